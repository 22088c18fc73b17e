"""Prototypes of networks: their text, and networks newly made from it."""

from __future__ import annotations

import difflib
import os
import re
from typing import NamedTuple

from seqzoo.datasets import files
from seqzoo.datasets.errors import InputError
from seqzoo.zoo.checkpoints import components, draws
from seqzoo.zoo.checkpoints.nnet1 import Nnet

_GLUED = re.compile(r"(?<!\S)([-+.\w]+)(<\w+>)(?!\S)")
_DEEPEST = 10
_LONGEST = 1 << 24  # bytes


class Options:
    """The `<Name> value ...` pairs of one line, taken out by name and type.

    Names are matched in any case. What nobody took is an error, so that a
    misspelt option does not pass as its default.
    """

    def __init__(self, values: dict[str, list[str]], place: str):
        self.values = values
        self.place = place
        self.depth = 0
        """How many prototypes name the one that this line is of."""
        self._keys = {key.lower(): key for key in values}
        self._asked: list[str] = []

    def words(self, name: str, default: list[str] | None = None) -> list[str]:
        """The words after `<name>`; without a default it must be there."""
        self._asked.append(f"<{name}>")
        key = self._keys.get(f"<{name}>".lower())
        if key is not None:
            return self.values[key]
        if default is None:
            raise self.error(f"<{name}> is missing")
        return default

    def _one(self, name: str, default: object, kind: type, what: str):
        words = self.words(name, None if default is None else [str(default)])
        try:
            (word,) = words
            return kind(word)
        except ValueError:
            found = " ".join(words)
            raise self.error(f"<{name}> takes {what}, not {found!r}") from None

    def integer(self, name: str, default: int | None = None) -> int:
        return self._one(name, default, int, "a whole number")

    def number(self, name: str, default: float | None = None) -> float:
        return self._one(name, default, float, "a number")

    def word(self, name: str, default: str | None = None) -> str:
        """One word, such as a path."""
        return self._one(name, default, str, "one word")

    def boolean(self, name: str, default: bool | None = None) -> bool:
        """`T`, `F`, `true` or `false`."""
        word = self.word(name, None if default is None else "FT"[default])
        if word not in ("T", "F", "true", "false"):
            raise self.error(f"<{name}> takes T or F, not {word!r}")
        return word[0] in "Tt"

    def has(self, name: str) -> bool:
        return f"<{name}>".lower() in self._keys

    def _bracketed(self, name: str, kind: type, what: str) -> list:
        words = self.words(name)
        if len(words) == 1 and words[0][:1] != "[":
            words = words[0].replace(",", ":").split(":")
        elif len(words) >= 2 and words[0] == "[" and words[-1] == "]":
            words = words[1:-1]
        try:
            return [kind(word) for word in words]
        except ValueError:
            found = " ".join(self.words(name))
            raise self.error(f"<{name}> takes [ {what} ], not {found!r}") from None

    def integers(self, name: str) -> list[int]:
        """`[ 1 2 3 ]`, `1:2:3` or `1,2,3`."""
        return self._bracketed(name, int, "whole numbers")

    def numbers(self, name: str) -> list[float]:
        """`[ 0.5 1 ]`."""
        return self._bracketed(name, float, "numbers")

    def path(self, path: str) -> str:
        """A file that the line names: as it is, or else beside the prototype."""
        if "|" in path:
            raise self.error(f"{path} is a command; a file is taken")
        bare, _ = files.split_offset(path)
        if "://" in path or os.path.exists(path) or os.path.exists(bare):
            return path
        folder = os.path.dirname(self.place)
        if not os.path.exists(os.path.join(folder, bare)):
            raise self.error(
                f"there is no {path}, neither here nor beside the prototype"
            )
        return os.path.join(folder, path)

    def offsets(self) -> list[int]:
        """`<BuildVector> a:b a:step:b x </BuildVector>` or `<ReadVector> [ x y ]`."""
        if self.has("ReadVector"):
            words = self.words("ReadVector")
            if len(words) < 2 or words[0] != "[" or words[-1] != "]":
                raise self.error("<ReadVector> takes [ numbers ]")
            spans = [[word] for word in words[1:-1]]
        else:
            spans = [word.split(":") for word in self.words("BuildVector")]
        found: list[int] = []
        for span in spans:
            try:
                first, *step, last = map(int, [span[0], *span[1:-1], span[-1]])
                stride = step[0] if step else 1
                if len(step) > 1 or stride < 1 or last < first:
                    raise ValueError
            except ValueError:
                raise self.error(
                    f"{':'.join(span)!r} is not a number, first:last or first:step:last"
                ) from None
            if (last - first) // stride > 1_000_000:
                raise self.error(f"{':'.join(span)!r} is too long")
            found += range(first, last + 1, stride)
        return found

    def error(self, what: str) -> InputError:
        return InputError(f"{self.place}: {what}.")

    def finish(self) -> None:
        """Complains about options that were not asked for."""
        asked = {name.lower() for name in self._asked}
        for lower, name in self._keys.items():
            if lower not in asked:
                near = difflib.get_close_matches(name, self._asked, 1, 0.5)
                known = near[0] if near else ", ".join(self._asked)
                raise self.error(f"option {name} is not known; taken: {known}")


class ProtoLine(NamedTuple):
    """One component of a prototype."""

    marker: str
    options: Options
    line: int


def parse(text: str, name: str) -> list[ProtoLine]:
    """The components of a prototype, unresolved, in their order.

    `<NnetProto>` and `</NnetProto>` around the lines, either of which may be absent,
    and empty lines are left out.

    Args:
        text: `<Marker> <InputDim> i <OutputDim> o <Option> value ...` lines.
        name: what errors call the prototype (a path).

    Raises:
        InputError: with the number of the line that is wrong.
    """
    lines: list[ProtoLine] = []
    closed = 0
    opened = False
    for number, text_line in enumerate(text.splitlines(), 1):
        # Kaldi's scripts print options right behind a number: `0.0<ParamStddev> 0.04`.
        words = _GLUED.sub(r"\1 \2", text_line).split()
        if not words:
            continue
        place = f"{name}:{number}"
        head = words[0].lower()
        if head == "<nnetproto>":
            if opened or lines:
                raise InputError(f"{place}: <NnetProto> must be the first line.")
            opened = True
            words = words[1:]
        if words and words[-1].lower() == "</nnetproto>" and not closed:
            closed = number
            words = words[:-1]
        elif closed:
            raise InputError(
                f"{place}: {words[0][:40]!r} stands after the </NnetProto> "
                f"of line {closed}."
            )
        if words:
            lines.append(_line(words, number, place))
    if not lines:
        raise InputError(f"{name}: holds no component.")
    return lines


def _line(words: list[str], number: int, place: str) -> ProtoLine:
    marker, *rest = words
    if not _is_name(marker) or marker.startswith("</"):
        raise InputError(
            f"{place}: {marker[:40]!r} is not a component; <Marker> is taken."
        )
    values: dict[str, list[str]] = {}
    current = ""
    for word in rest:
        if word.startswith("</") and _is_name(word):
            if word[2:].lower() != current[1:].lower():
                raise InputError(f"{place}: {word[:40]} closes nothing.")
            current = ""
        elif _is_name(word):
            current = word
            values[current] = []
        elif current:
            values[current].append(word)
        else:
            raise InputError(f"{place}: {word[:40]!r} has no <Option> before it.")
    return ProtoLine(marker, Options(values, place), number)


def _is_name(word: str) -> bool:
    return len(word) > 2 and word[0] == "<" and word[-1] == ">"


def initialize(
    proto: str, seed: int = 777, *, name: str = "prototype", rng: str = "numpy"
) -> Nnet:
    """A new network after the text of a prototype, as nnet-initialize.

    Args:
        proto: the text.
        seed: of the random weights.
        name: what errors call the prototype (a path).
        rng: `numpy`, or `kaldi` for the very weights that nnet-initialize
            draws with this seed on a GNU system (slower).

    Raises:
        InputError: with the line, for what no network can be made of.
    """
    if rng not in ("numpy", "kaldi"):
        raise InputError(f"rng is {rng!r}; numpy and kaldi are taken.")
    source: draws.Draws
    source = draws.KaldiDraws(seed) if rng == "kaldi" else draws.NumpyDraws(seed)
    return _make(proto, name, source, 0)


def read(path: str, seed: int = 777, *, rng: str = "numpy") -> Nnet:
    """A new network after the prototype in a file; see `initialize`."""
    return initialize(_text(path), seed, name=path, rng=rng)


def _text(path: str) -> str:
    with files.open_input(path) as stream:
        data = stream.peek(_LONGEST)
    if len(data) == _LONGEST:
        raise InputError(f"{path}: is longer than a prototype can be.")
    return data.decode("utf-8", "replace")


def initialize_nested(options: Options, path: str, rng: draws.Draws) -> Nnet:
    """A new network after the prototype `path`, which the line of `options` names."""
    if options.depth >= _DEEPEST:
        raise options.error(f"prototypes name others deeper than {_DEEPEST}")
    found = options.path(path)
    return _make(_text(found), found, rng, options.depth + 1)


def _make(proto: str, name: str, rng: draws.Draws, depth: int) -> Nnet:
    nnet = Nnet([])
    for marker, options, _ in parse(proto, name):
        options.depth = depth
        try:
            kind = components.lookup(marker)
        except KeyError:
            raise options.error(
                f"{marker} {components.unknown_text(marker, 0.5)}"
            ) from None
        inputs, outputs = options.integer("InputDim"), options.integer("OutputDim")
        if not (0 < inputs < 2**31 and 0 < outputs < 2**31):
            raise options.error(
                f"dimensions are {inputs} and {outputs}; 1 to {2**31 - 1} are taken"
            )
        if nnet.components and inputs != nnet.output_dim:
            raise options.error(
                f"<InputDim> of {kind.marker} is {inputs}, but the component before "
                f"puts out {nnet.output_dim}"
            )
        component = kind(inputs, outputs)
        try:
            component.init_from_proto(options, rng)
            options.finish()
            component.check()
        except components.ComponentError as error:
            raise options.error(str(error).removesuffix(".")) from None
        except MemoryError:
            raise options.error(
                f"{kind.marker} of {inputs} x {outputs} does not fit into memory"
            ) from None
        nnet.components.append(component)
    return nnet
