import functools
import hashlib
import http.server
import io
import os
import tarfile
import threading

import pytest

from seqzoo.datasets import gbw_fetch, gbw_sources
from seqzoo.datasets.errors import InputError

ROOT = "1-billion-word-language-modeling-benchmark-r13output"


def archive(*names):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for name in names:
            member = tarfile.TarInfo(name)
            text = f"text of {os.path.basename(name)}\n".encode() * 50
            member.size = len(text)
            tar.addfile(member, io.BytesIO(text))
    return packed.getvalue()


SHARDS = archive(
    f"{ROOT}/README",
    f"{ROOT}/{gbw_sources.TRAINING}/news.en-00001-of-00100",
    f"{ROOT}/{gbw_sources.HELDOUT}/news.en.heldout-00000-of-00050",
    f"../{gbw_sources.HELDOUT}/news.en.heldout-00001-of-00050",
    "../../outside",
)


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves bytes from where they are asked for; stops after `most` of them."""

    def __init__(self, content, most, asked, *args):
        self.content, self.most, self.asked = content, most, asked
        super().__init__(*args)

    def do_GET(self):
        start = int(self.headers["Range"].removeprefix("bytes=").removesuffix("-"))
        self.asked.append(start)
        if start >= len(self.content):
            self.send_error(416)
            return
        left = self.content[start:]
        self.send_response(206)
        self.send_header("Content-Length", str(len(left)))
        self.end_headers()
        self.wfile.write(left[: self.most])

    def log_message(self, *args):
        pass


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch):
    monkeypatch.setenv("no_proxy", "*")


@pytest.fixture
def serve():
    servers = []

    def start(content, most=None):
        asked = []
        handler = functools.partial(Handler, content, most, asked)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}/gbw.tar.gz", asked

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def fetch(directory, url, content=SHARDS):
    digest = hashlib.sha256(content).hexdigest()
    return gbw_fetch.fetch(str(directory), url=url, sha256=digest, progress=False)


def test_shards_are_fetched_and_unpacked(serve, tmp_path):
    url, asked = serve(SHARDS)
    folder = fetch(tmp_path / "data" / "gbw", url)
    sets = gbw_sources.find(folder)
    assert {name: len(paths) for name, paths in sets.items()} == {
        "train": 1,
        "valid": 1,
        "test": 1,
    }
    assert os.listdir(tmp_path / "data" / "gbw") == [ROOT]
    assert os.listdir(tmp_path) == ["data"]
    assert fetch(tmp_path / "data" / "gbw", url) == folder
    assert asked == [0]


def test_a_download_that_was_stopped_goes_on(serve, tmp_path):
    url, _ = serve(SHARDS, most=100)
    with pytest.raises(InputError, match="left; go on by running the same command"):
        fetch(tmp_path, url)
    url, asked = serve(SHARDS)
    gbw_sources.find(fetch(tmp_path, url))
    assert asked == [100]


def test_a_download_that_is_all_there_already(serve, tmp_path):
    (tmp_path / f"{ROOT}.tar.gz.part").write_bytes(SHARDS)
    url, asked = serve(SHARDS)
    gbw_sources.find(fetch(tmp_path, url))
    assert asked == [len(SHARDS)]


def test_what_is_something_else_is_not_kept(serve, tmp_path):
    url, _ = serve(b"Sorry")
    with pytest.raises(InputError, match=f"{url}: cannot fetch it: what came has sha"):
        fetch(tmp_path, url)
    assert os.listdir(tmp_path) == []
    url, _ = serve(b"Sorry")
    with pytest.raises(InputError, match="cannot fetch it: .*gzip"):
        fetch(tmp_path, url, b"Sorry")
    other = archive("a/b")
    url, _ = serve(other)
    with pytest.raises(InputError, match="no training shards in the archive"):
        fetch(tmp_path / "other", url, other)


def test_no_server(tmp_path):
    with pytest.raises(InputError, match="cannot fetch it: .*Connection refused"):
        fetch(tmp_path / "gbw", "http://127.0.0.1:9/gbw.tar.gz")
    assert os.listdir(tmp_path) == []  # No folder is left, but one that was there.
    with pytest.raises(InputError, match="cannot fetch it"):
        fetch(tmp_path, "http://127.0.0.1:9/gbw.tar.gz")
    assert tmp_path.exists()


def test_instructions_name_all_there_is_to_know():
    text = gbw_fetch.instructions("data/gbw")
    for part in (
        "http://www.statmt.org/lm-benchmark/1-billion-word-language-modeling-benchmark-"
        "r13output.tar.gz",
        "1,792,209,805 bytes",
        "unpack it into data/gbw",
        "training-monolingual.tokenized.shuffled",
        "news.en-00001-of-00100 to news.en-00099-of-00100",
        "heldout-monolingual.tokenized.shuffled",
        "news.en.heldout-00000-of-00050 to news.en.heldout-00049-of-00050",
    ):
        assert part in text
