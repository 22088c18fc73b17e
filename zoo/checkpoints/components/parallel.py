"""`<ParallelComponent>`: networks side by side."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from seqzoo.zoo.checkpoints import nnet_info
from seqzoo.zoo.checkpoints.components import nested
from seqzoo.zoo.checkpoints.components.component import ComponentError, register

if TYPE_CHECKING:
    from seqzoo.datasets.kaldi_objects import ObjectReader, ObjectWriter
    from seqzoo.zoo.checkpoints.draws import Draws
    from seqzoo.zoo.checkpoints.nnet_proto import Options


@register("<ParallelComponent>")
@dataclasses.dataclass(eq=False)
class Parallel(nested.NestedComponent):
    """Each network takes its part of the columns; their outputs stand side by side."""

    def read_data(self, reader: ObjectReader) -> None:
        reader.expect_token("<NestedNnetCount>")
        count = reader.read_int32()
        for _ in range(count):
            reader.expect_token("<NestedNnet>")
            reader.read_int32()
            self.nets.append(nested.read_net(reader))
        reader.expect_token("</ParallelComponent>")

    def write_data(self, writer: ObjectWriter) -> None:
        writer.write_token("<NestedNnetCount>")
        writer.write_int32(len(self.nets))
        writer.write_newline()
        for number, net in enumerate(self.nets, 1):
            writer.write_token("<NestedNnet>")
            writer.write_int32(number)
            writer.write_newline()
            nested.write_net(writer, net)
        writer.write_token("</ParallelComponent>")

    def init_from_proto(self, options: Options, rng: Draws) -> None:
        paths = options.words("NestedNnet", [])
        paths = paths + options.words("NestedNnetFilename", [])
        protos = options.words("NestedNnetProto", [])
        self.nets = [nested.load_net(options, path) for path in paths]
        self.nets += [nested.make_net(options, proto, rng) for proto in protos]

    def check(self) -> None:
        inputs = sum(net.input_dim for net in self.nets)
        outputs = sum(net.output_dim for net in self.nets)
        if not self.nets or (inputs, outputs) != (self.input_dim, self.output_dim):
            raise ComponentError(
                f"{self.marker} holds {len(self.nets)} networks, whose dimensions add "
                f"up to {inputs} and {outputs}, not to {self.input_dim} and "
                f"{self.output_dim}"
            )

    def info(self) -> str:
        return "".join(
            f"\nnested_network #{number} {{\n{nnet_info.info(net)}}}"
            for number, net in enumerate(self.nets, 1)
        )

    def propagate(self, feats: np.ndarray) -> np.ndarray:
        ends = np.cumsum([net.input_dim for net in self.nets])[:-1]
        parts = np.split(feats, ends, axis=1)
        outputs = [
            net.propagate(part) for net, part in zip(self.nets, parts, strict=True)
        ]
        return np.concatenate(outputs, axis=1)
