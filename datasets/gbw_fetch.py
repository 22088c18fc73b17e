"""Fetches the billion-word benchmark from statmt.org, or tells how to."""

import contextlib
import hashlib
import os
import shutil
import tarfile
import urllib.error
import urllib.request

import tqdm

from seqzoo.datasets import gbw_sources
from seqzoo.datasets.errors import InputError

NAME = "1-billion-word-language-modeling-benchmark-r13output"
URL = f"http://www.statmt.org/lm-benchmark/{NAME}.tar.gz"
BYTES = 1_792_209_805
SHA256 = "01ba60381110baf7f189dfd2b8374de371e8c9a340835793f190bdae9e90a34e"
TRAINING_SHARDS, HELDOUT_SHARDS = 99, 50
_BLOCK = 1 << 20


def instructions(directory: str) -> str:
    """What to fetch by hand, and where to put it."""
    return (
        f"Fetch {URL}\n"
        f"({BYTES:,} bytes, sha256 {SHA256})\n"
        f"and unpack it into {directory}. Then there are, about 4 GB in all:\n"
        f"  {NAME}/{gbw_sources.TRAINING}/\n"
        f"    news.en-00001-of-00100 to news.en-{TRAINING_SHARDS:05}-of-00100\n"
        f"  {NAME}/{gbw_sources.HELDOUT}/\n"
        f"    news.en.heldout-00000-of-00050 to "
        f"news.en.heldout-{HELDOUT_SHARDS - 1:05}-of-00050\n"
        "Some of the shards will do; at least one training and one held-out shard are "
        "needed."
    )


def fetch(
    directory: str,
    *,
    url: str = URL,
    sha256: str = SHA256,
    progress: bool | None = None,
    timeout: float = 30,
) -> str:
    """Downloads and unpacks the benchmark; shards that are there are kept.

    A download that was stopped goes on. The shards appear all at once.

    Args:
        directory: where to.
        url: of the archive.
        sha256: of the archive.
        progress: whether a bar is shown; None: on a terminal.
        timeout: seconds to wait for an answer.

    Returns:
        The folder that `gbw_sources.find` takes.

    Raises:
        InputError: if it cannot be had; `instructions` tells the rest.
    """
    target = os.path.join(directory, NAME)
    if os.path.isdir(os.path.join(target, gbw_sources.TRAINING)):
        return target
    archive = os.path.join(directory, f"{NAME}.tar.gz")
    new = not os.path.exists(directory)
    try:
        os.makedirs(directory, exist_ok=True)
        if not os.path.exists(archive):
            _download(url, f"{archive}.part", sha256, progress, timeout)
            os.replace(f"{archive}.part", archive)
        _unpack(archive, target)
    except (OSError, tarfile.TarError, EOFError) as error:
        if new:
            with contextlib.suppress(OSError):
                os.rmdir(directory)  # Unless something came.
        reason = " ".join(str(getattr(error, "reason", None) or error).split())
        raise InputError(f"{url}: cannot fetch it: {reason}.") from None
    os.remove(archive)
    return target


def _download(
    url: str, path: str, sha256: str, progress: bool | None, timeout: float
) -> None:
    digest = hashlib.sha256()
    done = os.path.getsize(path) if os.path.exists(path) else 0
    request = urllib.request.Request(url, headers={"Range": f"bytes={done}-"})
    try:
        answer = urllib.request.urlopen(request, timeout=timeout)
    except urllib.error.HTTPError as error:
        if error.code != 416:  # Nothing is left behind the end.
            raise
        answer = None
    if answer is not None:
        with answer, open(path, "ab" if answer.status == 206 else "wb") as file:
            left = int(answer.headers.get("Content-Length") or 0)
            with tqdm.tqdm(
                total=file.tell() + left or None,
                initial=file.tell(),
                desc="fetching",
                unit="B",
                unit_scale=True,
                disable=None if progress is None else not progress,
            ) as bar:
                while block := answer.read(_BLOCK):
                    file.write(block)
                    bar.update(len(block))
                    left -= len(block)
            if left > 0:
                raise OSError(
                    f"the connection ended with {left} bytes left; go on by "
                    "running the same command again"
                )
    with open(path, "rb") as whole:
        while block := whole.read(_BLOCK):
            digest.update(block)
    if digest.hexdigest() != sha256:
        os.remove(path)
        raise OSError(f"what came has sha256 {digest.hexdigest()}, not {sha256}")


def _unpack(archive: str, target: str) -> None:
    """The shards alone; nothing of the archive can land elsewhere."""
    partial = f"{target}.partial"
    shutil.rmtree(partial, ignore_errors=True)
    with tarfile.open(archive, "r:gz") as packed:
        for member in packed:
            folder, name = os.path.split(member.name)
            folder = os.path.basename(folder)
            if folder not in (gbw_sources.TRAINING, gbw_sources.HELDOUT):
                continue
            source = packed.extractfile(member) if member.isfile() else None
            if source is None or not name.startswith("news.en"):
                continue
            os.makedirs(os.path.join(partial, folder), exist_ok=True)
            with source, open(os.path.join(partial, folder, name), "wb") as file:
                shutil.copyfileobj(source, file, _BLOCK)
    if not os.path.isdir(os.path.join(partial, gbw_sources.TRAINING)):
        raise OSError("no training shards in the archive")
    os.replace(partial, target)
