"""How a language model is trained."""

import dataclasses
from typing import Literal

from seqzoo.zoo.language import learn_rate

Tables = Literal["sgd", "momentum", "adagrad", "dense_momentum"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class LanguageTrainOptions:
    """Names and defaults are those of Torch's noise-contrastive-estimate.lua."""

    startlr: float = 0.05
    """Learning rate of the first epoch."""

    minlr: float = 1e-5
    """Learning rate at the end of its way down."""

    saturate: int = 400
    """Epochs from startlr to minlr, in equal steps."""

    schedule: str = ""
    """Learning rates instead, `{[5]=0.5,[8]=0.25}`: 0.5 from the end of epoch 5 on."""

    momentum: float = 0.9
    """Of all weights but the tables; 0 or less is none."""

    tables: Tables = "sgd"
    """Rule for the rows of words: sgd, momentum or adagrad for those that a step
    touches, or dense_momentum for all, as Torch has it."""

    cutoff: float = -1.0
    """Largest norm of all gradients together; -1 is none."""

    maxnormout: float = -1.0
    """Largest norm of a row of the word vectors and of a row of Torch's other weight
    matrices, after each step; -1 is none."""

    maxepoch: int = 1000
    """Epochs at most."""

    earlystop: int = 50
    """Epochs without a least validation error after which training ends."""

    batchsize: tuple[int, ...] = (128,)
    """Columns of a batch: of training, or of training, validation and test."""

    seqlen: int = 50
    """Time steps that gradients flow through."""

    trainsize: int | None = None
    """Time steps of an epoch; -1 is a pass over the set, None 400,000 but no more than
    a pass."""

    validsize: int | None = None
    """The same of a validation; None is 40,000 but no more than a pass."""

    valid_perplexity: int = 0
    """Also find the validation set's perplexity by the full softmax each so many
    epochs; 0 never does."""

    bfloat16: bool = False
    """Compute in bfloat16, with float32 weights."""

    def __post_init__(self):
        if len(self.batchsize) not in (1, 3) or min(self.batchsize) < 1:
            raise ValueError(
                f"batchsize is {self.batchsize}; one number, or three for training, "
                "validation and test, of 1 or more are taken."
            )
        for name in ("seqlen", "maxepoch", "earlystop", "saturate"):
            if getattr(self, name) < 1:
                value = getattr(self, name)
                raise ValueError(f"{name} is {value}; 1 or more is taken.")
        if not self.startlr > 0 or self.minlr < 0:
            raise ValueError(
                f"startlr is {self.startlr} and minlr {self.minlr}; above 0, and 0 or "
                "more, are taken."
            )
        if self.momentum >= 1:
            raise ValueError(f"momentum is {self.momentum}; below 1 is taken.")
        if self.tables.endswith("momentum") and self.momentum <= 0:
            raise ValueError(
                f"tables is {self.tables} but momentum {self.momentum}; give momentum, "
                "or another rule for tables."
            )
        learn_rate.parse_schedule(self.schedule)

    def steps(self, training: bool, size: int) -> int:
        """Time steps of an epoch, or of a validation, where a pass has `size`."""
        given = self.trainsize if training else self.validsize
        if given is None:
            return min(size, 400_000 if training else 40_000)
        return given if given > 0 else size

    @property
    def batch_sizes(self) -> tuple[int, int]:
        """Columns in training and validation."""
        return self.batchsize[0], self.batchsize[1 if len(self.batchsize) > 1 else 0]
