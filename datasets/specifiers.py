"""Kaldi's rspecifiers and wspecifiers: `ark,s,cs:file`, `ark,scp:a.ark,a.scp`."""

import dataclasses

from seqzoo.datasets.errors import InputError

_READ_OPTIONS = "o no s ns cs ncs p np bg t b".split()
_WRITE_OPTIONS = "b t f nf p np".split()


@dataclasses.dataclass(frozen=True)
class Rspecifier:
    """Where a table is read from, and how."""

    text: str
    """As the user wrote it."""
    script: bool
    """Whether `name` is an scp; else an archive."""
    name: str
    """The file, `-`, or `command |`."""
    once: bool = False
    sorted: bool = False
    called_sorted: bool = False
    permissive: bool = False


@dataclasses.dataclass(frozen=True)
class Wspecifier:
    """Where a table is written to, and how."""

    text: str
    """As the user wrote it."""
    archive: str | None
    """The archive's file, `-`, or `| command`."""
    script: str | None
    """The scp's file; without an archive, one to read the targets from."""
    binary: bool = True
    flush: bool = False
    permissive: bool = False


def _split(text: str, form: str) -> tuple[list[str], str]:
    head, colon, name = text.strip().partition(":")
    options = head.split(",")
    if not colon or not {"ark", "scp"} & set(options):
        raise InputError(f"{text!r} is not a table; write {form}.")
    return options, name.strip()


def rspecifier(text: str) -> Rspecifier:
    """Parses what a table is read from.

    Raises:
        InputError: if it is not `ark:` or `scp:` with known options.
    """
    form = "ark:FILE or scp:FILE (options before the colon: ark,s,cs:FILE)"
    options, name = _split(text, form)
    kinds = [option for option in options if option in ("ark", "scp")]
    if len(kinds) != 1:
        raise InputError(f"{text!r} names {' and '.join(kinds)} to read; write {form}.")
    flags = {"o": False, "s": False, "cs": False, "p": False}
    for option in options:
        if option in ("ark", "scp"):
            continue
        if option not in _READ_OPTIONS:
            raise InputError(
                f"{text!r}: unknown option {option!r}; known when reading: "
                f"{', '.join(_READ_OPTIONS)}."
            )
        if option in flags:
            flags[option] = True
        elif option[0] == "n":
            flags[option[1:]] = False
    return Rspecifier(
        text, kinds[0] == "scp", name, flags["o"], flags["s"], flags["cs"], flags["p"]
    )


def wspecifier(text: str) -> Wspecifier:
    """Parses what a table is written to.

    Raises:
        InputError: if it is not `ark:`, `scp:` or `ark,scp:` with known options.
    """
    form = "ark:FILE, ark,t:FILE (text) or ark,scp:FILE.ark,FILE.scp"
    options, name = _split(text, form)
    kinds = [option for option in options if option in ("ark", "scp")]
    if kinds not in (["ark"], ["scp"], ["ark", "scp"]):
        raise InputError(f"{text!r} has {','.join(kinds)}; write {form}.")
    binary, flush, permissive = True, False, False
    for option in options:
        if option in ("ark", "scp"):
            continue
        if option not in _WRITE_OPTIONS:
            raise InputError(
                f"{text!r}: unknown option {option!r}; known when writing: "
                f"{', '.join(_WRITE_OPTIONS)}."
            )
        if option in ("b", "t"):
            binary = option == "b"
        elif option in ("f", "nf"):
            flush = option == "f"
        else:
            permissive = option == "p"
    archive: str | None = name
    script: str | None = None
    if kinds == ["scp"]:
        archive, script = None, name
    elif len(kinds) == 2:
        archive, comma, script = name.partition(",")
        archive, script = archive.strip(), script.strip()
        if not comma or not archive or not script or "," in script:
            raise InputError(f"{text!r} needs two files; write ark,scp:A.ark,A.scp.")
        if archive == "-" or archive.startswith("|") or archive.endswith(".gz"):
            raise InputError(
                f"{text!r}: an scp cannot point into {archive!r}; "
                "write the archive to a plain file."
            )
    return Wspecifier(text, archive, script, binary, flush, permissive)
