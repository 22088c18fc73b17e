"""The configuration of `acoustic/multilingual`."""

import dataclasses
from typing import Any

from seqzoo.zoo.acoustic.dnn_config import DnnConfig


@dataclasses.dataclass(frozen=True, kw_only=True)
class MultilingualConfig(DnnConfig):
    """One network for several languages, each with a softmax of its own.

    All layers but the last are shared; a frame is learnt in the block of outputs of
    its language alone. The languages are those of the bundled prompts by default.
    """

    languages: tuple[str, ...] = ("en", "es", "fr")
    """Names of the languages, in the order of their blocks."""

    block_dims: tuple[int, ...] = ()
    """Outputs of each language; those of its alignments by default, 100 without."""

    task_weights: tuple[float, ...] = ()
    """Weight of each language in the objective; 1 each by default."""

    pdfs: int = 0
    """All outputs together, the sum of those; it need not be given."""

    def __post_init__(self) -> None:
        count = len(self.languages)
        if not count or len(set(self.languages)) < count:
            raise ValueError("languages are one or more different names.")
        for name in ("block_dims", "task_weights"):
            values = getattr(self, name)
            if values and len(values) != count:
                raise ValueError(
                    f"{name} has {len(values)} values, but there are {count} languages."
                )
        if self.task_weights and not any(weight > 0 for weight in self.task_weights):
            raise ValueError(
                f"task_weights are {self.task_weights}; one at least is above 0."
            )
        if min(self.widths) < 1:
            raise ValueError(f"block_dims are {self.block_dims}; at least 1 is taken.")
        if self.pdfs not in (0, sum(self.widths)):
            raise ValueError(
                f"pdfs is {self.pdfs}, but the languages have {sum(self.widths)}."
            )
        object.__setattr__(self, "pdfs", sum(self.widths))

    @property
    def widths(self) -> tuple[int, ...]:
        """Outputs of each language."""
        return self.block_dims or (100,) * len(self.languages)

    @property
    def objective(self) -> str:
        """The languages' cross-entropies side by side."""
        weights = self.task_weights or (1.0,) * len(self.languages)
        parts = [
            f"xent,{dim},{weight:g}"
            for dim, weight in zip(self.widths, weights, strict=True)
        ]
        return ",".join(["multitask", *parts])

    def proto_options(self) -> dict[str, Any]:
        """Also the blocks."""
        blocks = ":".join(map(str, self.widths))
        return {**super().proto_options(), "block_softmax_dims": blocks}
