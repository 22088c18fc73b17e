"""`<MultiBasisComponent>`: networks mixed by the outputs of another one."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from seqzoo.zoo.checkpoints import nnet_info
from seqzoo.zoo.checkpoints.components import nested
from seqzoo.zoo.checkpoints.components.affine_transform import AffineTransform
from seqzoo.zoo.checkpoints.components.component import (
    ComponentError,
    float32,
    read_options,
    register,
    write_options,
)

if TYPE_CHECKING:
    from seqzoo.datasets.kaldi_objects import ObjectReader, ObjectWriter
    from seqzoo.zoo.checkpoints.draws import Draws
    from seqzoo.zoo.checkpoints.nnet1 import Nnet
    from seqzoo.zoo.checkpoints.nnet_proto import Options

# The sum over an utterance of a basis's selector outputs up to which it is left out.
LEAST_OCCUPANCY = 0.1


@register("<MultiBasisComponent>")
@dataclasses.dataclass(eq=False)
class MultiBasis(nested.NestedComponent):
    """`y = sum_k selector(s)_k * basis_k(x)`, the input being `concat(x, s)`.

    `nets` holds the selector, then the bases: as many as it has outputs. Over an
    utterance, bases whose selector outputs sum to 0.1 or less are left out.
    """

    selector_learn_rate_coef: float = 1.0
    """Factor on the derivatives that go back into the selector."""

    _OPTIONS = {"<SelectorLearnRateCoef>": "selector_learn_rate_coef"}

    @property
    def selector(self) -> Nnet:
        return self.nets[0]

    @property
    def bases(self) -> list[Nnet]:
        return self.nets[1:]

    def set_learn_rates(self, coef: float, bias_coef: float) -> None:
        """Sets those of the bases."""
        for net in self.bases:
            nested.set_learn_rates(net, coef, bias_coef)

    def read_data(self, reader: ObjectReader) -> None:
        selector: list[Nnet] = []
        bases: list[Nnet] = []
        while True:
            read_options(reader, self, self._OPTIONS)
            token = reader.peek_token()
            if token == "<Selector>":
                reader.read_token()
                selector = [nested.read_net(reader)]
            elif token == "<NumBasis>":
                reader.read_token()
                count = reader.read_int32()
                bases = []
                for _ in range(count):
                    reader.expect_token("<Basis>")
                    reader.read_int32()
                    bases.append(nested.read_net(reader))
            else:
                break
        if not selector:
            reader.fail("expected <Selector>, which is missing.")
        self.nets = selector + bases

    def write_data(self, writer: ObjectWriter) -> None:
        write_options(writer, self, self._OPTIONS)
        writer.write_newline()
        writer.write_newline()
        writer.write_token("<Selector>")
        writer.write_newline()
        nested.write_net(writer, self.selector)
        writer.write_newline()
        writer.write_token("<NumBasis>")
        writer.write_int32(len(self.bases))
        writer.write_newline()
        for number, net in enumerate(self.bases, 1):
            writer.write_token("<Basis>")
            writer.write_int32(number)
            writer.write_newline()
            nested.write_net(writer, net)

    def init_from_proto(self, options: Options, rng: Draws) -> None:
        coef = options.number("SelectorLearnRateCoef", 1.0)
        self.selector_learn_rate_coef = float32(coef)
        if options.has("SelectorFilename"):
            selector = nested.load_net(options, options.word("SelectorFilename"))
        else:
            selector = nested.make_net(options, options.word("SelectorProto"), rng)
        bases = self._new_bases(options, rng, selector)
        self.nets = [selector, *bases]

    def _new_bases(self, options: Options, rng: Draws, selector: Nnet) -> list[Nnet]:
        count = selector.output_dim
        proto = options.word("BasisProto", "")
        path = options.word("BasisFilename", "")
        paths = options.words("BasisFilenameVector", [])
        if proto:
            return [nested.make_net(options, proto, rng) for _ in range(count)]
        if path:
            return [nested.load_net(options, path) for _ in range(count)]
        if paths:
            return [nested.load_net(options, path) for path in paths]
        return [self._identity(selector) for _ in range(count)]

    def _identity(self, selector: Nnet) -> Nnet:
        from seqzoo.zoo.checkpoints.nnet1 import Nnet

        dim = self.output_dim
        if self.input_dim != selector.input_dim + dim:
            raise ComponentError(
                f"{self.marker} names no basis; then its input dimension must be "
                f"{selector.input_dim + dim}, {selector.input_dim} of the selector and "
                f"{dim} of the output, not {self.input_dim}"
            )
        if dim * dim >= 2**31:
            raise ComponentError(f"a matrix of {dim} x {dim} is too large")
        identity = np.eye(dim, dtype=np.float32)
        bias = np.zeros(dim, np.float32)
        return Nnet([AffineTransform(dim, dim, identity, bias)])

    def check(self) -> None:
        selector, bases = self.selector, self.bases
        if len(bases) != selector.output_dim:
            raise ComponentError(
                f"{self.marker} has {len(bases)} bases, but its selector has "
                f"{selector.output_dim} outputs"
            )
        inputs = self.input_dim - selector.input_dim
        for number, net in enumerate(bases, 1):
            if (net.input_dim, net.output_dim) != (inputs, self.output_dim):
                raise ComponentError(
                    f"{self.marker} has basis {number} of dimensions {net.input_dim} "
                    f"and {net.output_dim}; {inputs} and {self.output_dim} are needed"
                )

    def info(self) -> str:
        bases = "".join(
            f"basis_network #{number} {{\n{nnet_info.info(net)}}}\n"
            for number, net in enumerate(self.bases, 1)
        )
        return f"{bases}\nselector {{\n{nnet_info.info(self.selector)}}}"

    def propagate(self, feats: np.ndarray) -> np.ndarray:
        inputs, selecting = np.split(feats, [self.bases[0].input_dim], axis=1)
        shares = self.selector.propagate(selecting)
        outputs = np.zeros((len(feats), self.output_dim), np.float32)
        for net, share in zip(self.bases, shares.T, strict=True):
            if share.sum() > LEAST_OCCUPANCY:
                outputs += share[:, None] * net.propagate(inputs)
        return outputs
