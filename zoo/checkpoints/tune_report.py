"""What fine-tuning made of a network, component by component."""

import dataclasses
from typing import Any

from seqzoo.zoo.checkpoints import learn_rates
from seqzoo.zoo.checkpoints.nnet1 import Nnet


@dataclasses.dataclass(frozen=True, kw_only=True)
class TunedComponent:
    """A component with weights, of the network after."""

    number: int
    """From 1."""

    marker: str
    input_dim: int
    output_dim: int

    state: str
    """`kept`: it learns on; `frozen`: all its learn rates are 0; `partly frozen`: some
    are; `new`."""

    parameters: int
    frozen: int
    """Those of its parameters that do not learn."""

    dropped: int = 0
    """Parameters of what it stands in place of."""

    instead_of: str = ""
    """What that is."""


@dataclasses.dataclass(frozen=True)
class TuneReport:
    """Of a whole network; numbers are of parameters."""

    parts: tuple[TunedComponent, ...]

    @property
    def kept(self) -> int:
        """Old ones that learn on."""
        return sum(c.parameters - c.frozen for c in self.parts if not c.dropped)

    @property
    def frozen(self) -> int:
        """Old ones that do not learn."""
        return sum(c.frozen for c in self.parts)

    @property
    def new(self) -> int:
        """Drawn anew."""
        return sum(c.parameters for c in self.parts if c.dropped)

    @property
    def dropped(self) -> int:
        """Old ones that are gone."""
        return sum(c.dropped for c in self.parts)

    def __str__(self) -> str:
        lines = [
            f"component {c.number} {c.marker}, {c.input_dim} to {c.output_dim}, "
            f"{c.parameters} parameters: {c.state}"
            + (f", instead of {c.instead_of}" if c.instead_of else "")
            for c in self.parts
        ]
        return "\n".join(
            [
                *lines,
                f"parameters: {self.kept} learn on, {self.frozen} are frozen, "
                f"{self.new} are new, {self.dropped} were dropped",
            ]
        )


def report(before: Nnet, after: Nnet) -> TuneReport:
    """Tells the networks before and after fine-tuning apart.

    Args:
        before: a network.
        after: of as many components; those whose weights are other ones are new.
    """
    found = []
    pairs = zip(before.components, after.components, strict=True)
    for number, (old, new) in enumerate(pairs, 1):
        if not new.num_parameters():
            continue
        frozen = learn_rates.frozen_parameters(new)
        fresh = _is_new(old, new)
        total = new.num_parameters()
        state = "new"
        if not fresh:
            state = "partly frozen" if 0 < frozen < total else "kept"
            state = "frozen" if frozen == total else state
        found.append(
            TunedComponent(
                number=number,
                marker=new.marker,
                input_dim=new.input_dim,
                output_dim=new.output_dim,
                state=state,
                parameters=total,
                frozen=frozen,
                dropped=old.num_parameters() if fresh else 0,
                instead_of=f"{old.marker}, {old.input_dim} to {old.output_dim}"
                if fresh
                else "",
            )
        )
    return TuneReport(tuple(found))


def _is_new(old: Any, new: Any) -> bool:
    """Copies of a component share its arrays."""
    if type(old) is not type(new):
        return True
    before, after = old.parameters().values(), new.parameters().values()
    return any(x is not y for x, y in zip(before, after, strict=True))
