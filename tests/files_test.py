import os
import subprocess
import sys

import numpy as np
import pytest

from seqzoo.datasets import files, tables
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.files import Output


def content(name):
    with files.open_input(name) as reader:
        return reader.take(reader.size) if reader.size else reader.through(b"\n", "it")


def test_a_file_appears_when_it_is_done(tmp_path):
    output = Output(str(tmp_path / "f"))
    output.write(b"abc\n")
    assert not (tmp_path / "f").exists()
    output.commit()
    assert os.listdir(tmp_path) == ["f"]
    assert content(str(tmp_path / "f")) == b"abc\n"


def test_nothing_is_left_of_a_discarded_file(tmp_path):
    (tmp_path / "f").write_bytes(b"old\n")
    output = Output(str(tmp_path / "f"))
    output.write(b"new")
    output.discard()
    assert os.listdir(tmp_path) == ["f"]
    assert content(str(tmp_path / "f")) == b"old\n"


def test_a_text_is_whole_or_not_there(tmp_path):
    path = str(tmp_path / "f")
    files.write_text(path, "é\udcff\n")
    assert content(path) == b"\xc3\xa9\xff\n"
    with pytest.raises(KeyError), files.written(path) as output:
        output.write(b"half")
        raise KeyError
    assert os.listdir(tmp_path) == ["f"] and content(path).startswith(b"\xc3")


def test_links_stay_links(tmp_path):
    (tmp_path / "to").mkdir()
    (tmp_path / "f").symlink_to(tmp_path / "to" / "f")
    output = Output(str(tmp_path / "f"))
    output.write(b"abc\n")
    output.commit()
    assert (tmp_path / "f").is_symlink() and (tmp_path / "to" / "f").exists()


def test_gz_and_offsets(tmp_path):
    path = str(tmp_path / "f.gz")
    output = Output(path)
    output.write(b"abc\n")
    output.commit()
    assert content(path) == b"abc\n"
    assert content(f"{path}:2") == b"c\n"
    assert content(f"gunzip -c {path} |") == b"abc\n"


def test_a_name_that_ends_like_an_offset(tmp_path):
    (tmp_path / "f:12").write_bytes(b"abc\n")
    assert content(str(tmp_path / "f:12")) == b"abc\n"


def test_commands(tmp_path):
    output = Output(f"| cat > {tmp_path / 'f'}")
    output.write(b"abc\n")
    output.commit()
    assert (tmp_path / "f").read_bytes() == b"abc\n"
    output = Output("| exit 2")
    with pytest.raises(InputError, match=r"'exit 2' failed \(exit 2\)"):
        output.commit()
    with pytest.raises(InputError, match="would run a command"):
        files.open_input("cat x |", allow_pipes=False)
    with pytest.raises(InputError, match="writes to a command"):
        files.open_input("| cat")
    with pytest.raises(InputError, match="reads from a command"):
        Output("cat |")


def test_a_command_that_is_not_read_to_its_end_stops():
    with files.open_input("yes |") as reader:
        assert reader.take(4) == b"y\ny\n"


def test_what_cannot_be_opened(tmp_path):
    with pytest.raises(InputError, match="none: cannot read it: No such file"):
        files.open_input(str(tmp_path / "none"))
    with pytest.raises(InputError, match="cannot write it: No such file"):
        Output(str(tmp_path / "none" / "f"))
    (tmp_path / "f").write_bytes(b"abc")
    with pytest.raises(InputError, match="f:9: the file has only 3 bytes"):
        files.open_input(f"{tmp_path / 'f'}:9")
    with pytest.raises(InputError, match="cannot read it: Is a directory"):
        files.open_input(str(tmp_path))


def test_tables_do_not_import_tensorflow():
    code = "import sys, seqzoo.datasets.tables; sys.exit('tensorflow' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, env=path_env())


def path_env():
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


def test_what_only_looks_packed(tmp_path):
    (tmp_path / "f.gz").write_bytes(b"plain text")
    for name in ("f.gz", "f.gz:3"):
        with pytest.raises(InputError, match="cannot read on: Not a gzipped file"):
            content(str(tmp_path / name))


@pytest.mark.parametrize("path", ["s3://bucket/x.ark", "nowhere://host/x.ark"])
def test_a_file_system_that_is_not_there(path):
    message = f"{path}: cannot (read|write) it: no file system.*seqzoo\\[io\\]"
    with pytest.raises(InputError, match=message):
        files.open_input(path)
    with pytest.raises(InputError, match=message):
        tables.write_object(path, np.zeros(3, np.float32))
