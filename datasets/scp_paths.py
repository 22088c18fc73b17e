"""Where the files are that an scp names: corpora may be moved as a whole."""

import os
import re

_LOCAL_FILE = re.compile(r"(?![-|])(?![A-Za-z][A-Za-z0-9+.-]*://)[^|]+")
_PLACE = re.compile(r"(?P<path>.+?)(?P<rest>(:\d+)?(\s*\[[^\]]*\])?)")


def resolve(name: str, scp: str) -> str:
    """What an entry of an scp stands for, seen from the current directory.

    A relative path that is not there is looked for below the directory of the scp,
    then below each directory above that one; the first that exists is taken. So a
    corpus whose paths are relative to its top can lie anywhere.

    Args:
        name: `path`, with its `:offset` and `[range]` if any; commands, remote and
            absolute paths come back as they are, and so does what is found nowhere.
        scp: the file that names it.
    """
    if not _LOCAL_FILE.fullmatch(name) or not _LOCAL_FILE.fullmatch(scp):
        return name
    found = _PLACE.fullmatch(name)
    if found is None or os.path.isabs(found["path"]):
        return name
    return _find(found["path"], os.path.dirname(os.path.abspath(scp))) + found["rest"]


def _find(path: str, directory: str) -> str:
    if os.path.exists(path):
        return path
    while True:
        candidate = os.path.join(directory, path)
        if os.path.exists(candidate):
            return candidate
        parent = os.path.dirname(directory)
        if parent == directory:
            return path
        directory = parent
