"""nnet1 networks as raw nnet2 networks of Kaldi, in its text form."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

from seqzoo.datasets import files
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.kaldi_objects import ObjectWriter
from seqzoo.zoo.checkpoints import components
from seqzoo.zoo.checkpoints.nnet1 import Nnet

# What nnet1-to-raw-nnet gives to components that can learn.
_LEARNING_RATE = 1e-05


def to_text(nnet: Nnet) -> str:
    """The text of the nnet2 network that does what `nnet` does, as nnet1-to-raw-nnet.

    Learn rate coefficients and norm limits are left out: nnet2 has none.

    Raises:
        InputError: a component that nnet2 is not given, by number.
    """
    for number, component in enumerate(nnet.components, 1):
        if type(component) not in _WRITERS:
            taken = ", ".join(sorted(kind.marker for kind in _WRITERS))
            raise InputError(
                f"component {number} {component.marker} is not converted to nnet2; "
                f"these are: {taken}."
            )
    stream = io.BytesIO()
    writer = ObjectWriter(stream, binary=False)
    writer.write_token("<Nnet>")
    writer.write_token("<NumComponents>")
    writer.write_int32(len(nnet.components))
    writer.write_token("<Components>")
    for component in nnet.components:
        name, write = _WRITERS[type(component)]
        writer.write_token(f"<{name}>")
        write(writer, component)
        writer.write_token(f"</{name}>")
        writer.write_newline()
    writer.write_token("</Components>")
    writer.write_token("</Nnet>")
    return stream.getvalue().decode()


def write(path: str, nnet: Nnet) -> None:
    """Writes that text; `-` is standard output."""
    text = to_text(nnet).encode()
    stream = files.Output(path)
    try:
        stream.write(text)
        stream.commit()
    except BaseException:
        stream.discard()
        raise


def _affine(writer: ObjectWriter, component: components.AffineTransform) -> None:
    writer.write_token("<LearningRate>")
    writer.write_float(_LEARNING_RATE)
    writer.write_token("<LinearParams>")
    writer.write_matrix(component.linearity)
    writer.write_token("<BiasParams>")
    writer.write_vector(component.bias)
    writer.write_token("<IsGradient>")
    writer.write_bool(False)


def _activation(writer: ObjectWriter, component: components.Component) -> None:
    writer.write_token("<Dim>")
    writer.write_int32(component.output_dim)
    # Statistics of training, of which there are none.
    for token in ("<ValueSum>", "<DerivSum>"):
        writer.write_token(token)
        writer.write_vector([], double=True)
    writer.write_token("<Count>")
    writer.write_float(0)


def _splice(writer: ObjectWriter, component: components.Splice) -> None:
    writer.write_token("<InputDim>")
    writer.write_int32(component.input_dim)
    writer.write_token("<Context>")
    writer.write_int32_vector(component.offsets)
    writer.write_token("<ConstComponentDim>")
    writer.write_int32(0)


def _shift(writer: ObjectWriter, component: components.AddShift) -> None:
    writer.write_token("<Bias>")
    writer.write_vector(component.data)


def _scale(writer: ObjectWriter, component: components.Rescale) -> None:
    writer.write_token("<Scales>")
    writer.write_vector(component.data)


_WRITERS: dict[type[components.Component], tuple[str, Callable[..., Any]]] = {
    components.AffineTransform: ("AffineComponent", _affine),
    components.Sigmoid: ("SigmoidComponent", _activation),
    components.Softmax: ("SoftmaxComponent", _activation),
    components.Splice: ("SpliceComponent", _splice),
    components.AddShift: ("FixedBiasComponent", _shift),
    components.Rescale: ("FixedScaleComponent", _scale),
}
