"""Averages over an utterance: `<SimpleSentenceAveragingComponent>` and the older
`<SentenceAveragingComponent>`, which holds a network."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from seqzoo.zoo.checkpoints import nnet_info
from seqzoo.zoo.checkpoints.components import nested
from seqzoo.zoo.checkpoints.components.component import (
    Component,
    ComponentError,
    check_same_dims,
    float32,
    read_options,
    register,
    write_options,
)

if TYPE_CHECKING:
    from seqzoo.datasets.kaldi_objects import ObjectReader, ObjectWriter
    from seqzoo.zoo.checkpoints.draws import Draws
    from seqzoo.zoo.checkpoints.nnet_proto import Options


@register("<SimpleSentenceAveragingComponent>")
@dataclasses.dataclass(eq=False)
class SimpleSentenceAveraging(Component):
    """Every frame becomes `sum_t x_t / (T + shrinkage)` of its utterance.

    Or the plain sum, if `only_summing`.
    """

    gradient_boost: float = 100.0
    """Factor on the derivatives that go back through it."""
    shrinkage: float = 0.0
    """In frames; averages of short utterances shrink towards 0."""
    only_summing: bool = False

    _OPTIONS = {
        "<GradientBoost>": "gradient_boost",
        "<Shrinkage>": "shrinkage",
        "<OnlySumming>": "only_summing",
    }

    def read_data(self, reader: ObjectReader) -> None:
        read_options(reader, self, self._OPTIONS)

    def write_data(self, writer: ObjectWriter) -> None:
        write_options(writer, self, self._OPTIONS)

    def init_from_proto(self, options: Options, rng: Draws) -> None:
        self.gradient_boost = float32(options.number("GradientBoost", 100.0))
        self.shrinkage = float32(options.number("Shrinkage", 0.0))
        self.only_summing = options.boolean("OnlySumming", False)

    check = check_same_dims

    def info(self) -> str:
        return (
            f"\n  gradient-boost {self.gradient_boost:g}, shrinkage: "
            f"{self.shrinkage:g}, only summing: {self.only_summing:d}"
        )

    def propagate(self, feats: np.ndarray) -> np.ndarray:
        count = 1.0 if self.only_summing else len(feats) + self.shrinkage
        with np.errstate(invalid="ignore", divide="ignore"):
            average = feats.sum(axis=0) / np.float32(count)
        return np.tile(average, (len(feats), 1))


@register("<SentenceAveragingComponent>")
@dataclasses.dataclass(eq=False)
class SentenceAveraging(nested.NestedComponent):
    """`y_t = concat(mean_s net(x_s), x_t)`, the mean over the utterance."""

    learn_rate_factor: float = 100.0
    """Of the network, in prototypes only: files do not keep it."""

    def set_learn_rates(self, coef: float, bias_coef: float) -> None:
        """nnet-set-learnrate does not reach into it."""

    def read_data(self, reader: ObjectReader) -> None:
        self.nets = [nested.read_net(reader)]

    def write_data(self, writer: ObjectWriter) -> None:
        nested.write_net(writer, self.nets[0])

    def init_from_proto(self, options: Options, rng: Draws) -> None:
        self.learn_rate_factor = float32(options.number("LearnRateFactor", 100.0))
        path = options.word("NestedNnetFilename", "")
        proto = options.word("NestedNnetProto", "")
        if bool(path) == bool(proto):
            raise ComponentError(
                f"{self.marker} takes one of <NestedNnetFilename> and <NestedNnetProto>"
            )
        if path:
            self.nets = [nested.load_net(options, path)]
        else:
            self.nets = [nested.make_net(options, proto, rng)]

    def check(self) -> None:
        (net,) = self.nets
        outputs = net.output_dim + self.input_dim
        if net.input_dim != self.input_dim or outputs != self.output_dim:
            raise ComponentError(
                f"{self.marker} holds a network of dimensions {net.input_dim} and "
                f"{net.output_dim}; its own must be {net.input_dim} and "
                f"{net.input_dim + net.output_dim}, not {self.input_dim} and "
                f"{self.output_dim}"
            )

    def info(self) -> str:
        return f"nested_network {{\n{nnet_info.info(self.nets[0])}}}\n"

    def propagate(self, feats: np.ndarray) -> np.ndarray:
        if not len(feats):
            return np.zeros((0, self.output_dim), np.float32)
        average = self.nets[0].propagate(feats).mean(axis=0)
        return np.concatenate([np.tile(average, (len(feats), 1)), feats], axis=1)
