"""What components that hold networks have in common."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from seqzoo.zoo.checkpoints.components.component import UpdatableComponent

if TYPE_CHECKING:
    from seqzoo.datasets.kaldi_objects import ObjectReader, ObjectWriter
    from seqzoo.zoo.checkpoints.draws import Draws
    from seqzoo.zoo.checkpoints.nnet1 import Nnet
    from seqzoo.zoo.checkpoints.nnet_proto import Options

# nnet1 and nnet_proto import the components, so they are imported where they are used.


@dataclasses.dataclass(eq=False)
class NestedComponent(UpdatableComponent):
    """A building block that holds networks; their weights are not its own."""

    nets: list[Nnet] = dataclasses.field(default_factory=list)
    """The networks."""

    def parameters(self) -> dict[str, np.ndarray]:
        return {}

    def num_parameters(self) -> int:
        return sum(net.num_parameters() for net in self.nets)

    def set_learn_rates(self, coef: float, bias_coef: float) -> None:
        """Sets those of the components of all its networks."""
        for net in self.nets:
            set_learn_rates(net, coef, bias_coef)


def set_learn_rates(net: Nnet, coef: float, bias_coef: float) -> None:
    """Sets the learn rates of all components of `net`."""
    for component in net.components:
        if isinstance(component, UpdatableComponent):
            component.set_learn_rates(coef, bias_coef)


def read_net(reader: ObjectReader) -> Nnet:
    """Reads a network that stands inside of a component."""
    from seqzoo.zoo.checkpoints import nnet1

    return nnet1.read_nested(reader)


def write_net(writer: ObjectWriter, net: Nnet) -> None:
    """Writes one."""
    from seqzoo.zoo.checkpoints import nnet1

    nnet1.write_nnet(writer, net)


def load_net(options: Options, path: str) -> Nnet:
    """The network of a file that a prototype names."""
    from seqzoo.zoo.checkpoints import nnet1

    return nnet1.read(options.path(path))


def make_net(options: Options, path: str, rng: Draws) -> Nnet:
    """A new network after another prototype that a prototype names."""
    from seqzoo.zoo.checkpoints import nnet_proto

    return nnet_proto.initialize_nested(options, path, rng)
