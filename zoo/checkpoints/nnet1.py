"""Kaldi nnet1 model files: read, written, and run on the features of an utterance."""

from __future__ import annotations

import contextvars
import dataclasses
import io
from typing import Any

import numpy as np

from seqzoo.datasets import files
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.kaldi_objects import ObjectReader, ObjectWriter
from seqzoo.zoo.checkpoints import components

_BEGIN, _END, _END_OF_COMPONENT = "<Nnet>", "</Nnet>", "<!EndOfComponent>"
# Networks in networks: so many levels and no more, as each takes stack when read.
_DEEPEST = 20
_depth = contextvars.ContextVar("depth", default=0)
# What people take for an nnet1 network.
_OTHERS = {
    "<nnet3>": "this is a Kaldi nnet3 network; nnet1 ones are taken",
    "<nnet2>": "this is a Kaldi nnet2 network; nnet1 ones are taken",
    "<transitionmodel>": "this is an acoustic model (.mdl) of GMMs, nnet2 or nnet3; "
    "nnet1 networks are taken",
    "<nnetproto>": "this is a prototype; make a network of it with "
    "`seqzoo copy --input-format=proto`",
}


@dataclasses.dataclass(eq=False)
class Nnet:
    """A network: components, each taking what the one before puts out."""

    components: list[components.Component]

    @property
    def input_dim(self) -> int:
        """Numbers in an input frame; 0 without components."""
        return self.components[0].input_dim if self.components else 0

    @property
    def output_dim(self) -> int:
        """Numbers in an output frame; 0 without components."""
        return self.components[-1].output_dim if self.components else 0

    def num_parameters(self) -> int:
        """How many trainable numbers the components hold."""
        return sum(component.num_parameters() for component in self.components)

    def propagate(self, feats: np.ndarray) -> np.ndarray:
        """The output for one utterance, frame by frame, in float32 with NumPy.

        Args:
            feats: `(frames, input_dim)`.

        Raises:
            InputError: if `feats` has another width.
        """
        values = np.asarray(feats, np.float32)
        if values.ndim != 2 or values.shape[1] != self.input_dim:
            raise InputError(
                f"features are of shape {values.shape}; the network takes "
                f"(frames, {self.input_dim})."
            )
        for component in self.components:
            values = component.propagate(values)
        return values


def read(path: str) -> Nnet:
    """Reads a network, binary or text, of any age.

    Args:
        path: a file, local or remote, maybe gzipped; `-` is standard input.

    Raises:
        InputError: naming file, place and what is wrong.
    """
    with files.open_input(path) as stream:
        return parse(stream, path)


def parse(stream: Any, name: str) -> Nnet:
    """Reads a network from an open binary file; `name` is what errors call it."""
    reader = ObjectReader(stream, name)
    head = reader.peek_token()
    if not head.startswith("<"):
        found = repr(head[:20]) if head else "nothing"
        reader.fail(f"expected {_BEGIN} or a component's <Marker>, found {found}.")
    nnet = read_nnet(reader)
    if not nnet.components:
        reader.fail("the network has no components.")
    return nnet


def read_nnet(reader: ObjectReader) -> Nnet:
    """Reads a network from `reader`, up to its `</Nnet>` or the end of the file."""
    if reader.peek_token().lower() == _BEGIN.lower():
        reader.read_token()
    nnet = Nnet([])
    while not reader.at_end():
        at = reader.offset
        marker = reader.read_token()
        if marker.lower() == _END.lower():
            break
        number = len(nnet.components) + 1
        component = _read_component(reader, marker, number, at)
        if nnet.components and nnet.output_dim != component.input_dim:
            reader.fail(
                f"component {number} {component.marker} takes {component.input_dim} "
                f"numbers a frame, but component {number - 1} "
                f"{nnet.components[-1].marker} puts out {nnet.output_dim}.",
                at,
            )
        nnet.components.append(component)
    return nnet


def read_nested(reader: ObjectReader) -> Nnet:
    """Reads a network that stands inside of a component.

    Raises:
        NestedError: as InputError; it has the component that is wrong in it already.
    """
    depth = _depth.get() + 1
    if depth > _DEEPEST:
        reader.fail(f"networks are nested deeper than {_DEEPEST}.")
    token = _depth.set(depth)
    try:
        nnet = read_nnet(reader)
        if not nnet.components:
            reader.fail("a nested network has no components.")
    except InputError as error:
        raise NestedError(str(error)) from None
    finally:
        _depth.reset(token)
    return nnet


class NestedError(InputError):
    """What is wrong in a nested network."""


def _read_component(
    reader: ObjectReader, marker: str, number: int, at: int
) -> components.Component:
    try:
        kind = components.lookup(marker)
    except KeyError:
        raise InputError(_unknown(reader, marker, number, at)) from None
    try:
        output_dim = reader.read_int32()
        input_dim = reader.read_int32()
        if output_dim < 1 or input_dim < 1:
            reader.fail(
                f"dimensions are {output_dim} and {input_dim}; 1 is the least.", at
            )
        component = kind(input_dim, output_dim)
        component.read_data(reader)
        component.check()
        if reader.peek_token() == _END_OF_COMPONENT:
            reader.read_token()
    except components.ComponentError as error:
        place = reader.bytes.where(at, text=not reader.binary)
        raise InputError(f"{place}: component {number}: {error}.") from None
    except InputError as error:
        nested = isinstance(error, NestedError)
        inside = "inside of " if nested else ""
        message = str(error).removesuffix(".")
        raise InputError(
            f"{message} ({inside}component {number} {kind.marker})."
        ) from None
    return component


def _unknown(reader: ObjectReader, marker: str, number: int, at: int) -> str:
    shown = marker[:60]
    if number == 1 and marker.lower() in _OTHERS:
        return f"{reader.bytes.name}: {_OTHERS[marker.lower()]}."
    if not (shown.startswith("<") and marker.endswith(">")):
        place = reader.bytes.where(at, text=not reader.binary)
        return f"{place}: expected component {number} or {_END}, found {shown!r}."
    return (
        f"{reader.bytes.name}: component {number} {shown} at byte {at} "
        f"{components.unknown_text(marker, 0.8)}."
    )


def write(path: str, nnet: Nnet, binary: bool = True) -> None:
    """Writes a network in Kaldi's present form.

    A local file is replaced only when all is written.

    Args:
        path: a file, local or remote; `-` is standard output.
        nnet: the network.
        binary: text otherwise, which keeps 7 digits of each number.
    """
    stream = files.Output(path)
    try:
        write_nnet(ObjectWriter(stream, binary), nnet)
        stream.commit()
    except BaseException:
        stream.discard()
        raise


def to_bytes(nnet: Nnet, binary: bool = True) -> bytes:
    """What `write` puts into a file."""
    stream = io.BytesIO()
    write_nnet(ObjectWriter(stream, binary), nnet)
    return stream.getvalue()


def write_nnet(writer: ObjectWriter, nnet: Nnet) -> None:
    """Writes a network to `writer`. Also for components that hold networks."""
    writer.write_token(_BEGIN)
    writer.write_newline()
    for component in nnet.components:
        writer.write_token(component.marker)
        writer.write_int32(component.output_dim)
        writer.write_int32(component.input_dim)
        writer.write_newline()
        component.write_data(writer)
        writer.write_token(_END_OF_COMPONENT)
        writer.write_newline()
    writer.write_token(_END)
    writer.write_newline()
