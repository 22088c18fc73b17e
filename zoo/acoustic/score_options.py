"""What is done with the outputs of a network before they are written."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqzoo.datasets.errors import InputError


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class ScoreOptions:
    """Options of nnet-forward; by default the outputs are left as they are.

    Raises:
        InputError: if `apply_log` and `no_softmax` are both set.
    """

    apply_log: bool = False
    """Take `log(y + 1e-20)` of them."""

    no_softmax: bool = False
    """Leave out a softmax at the end of the network."""

    log_priors: NDArray[np.float32] | None = None
    """Subtract these, last; see `priors.read`."""

    def __post_init__(self) -> None:
        if self.apply_log and self.no_softmax:
            raise InputError(
                "apply_log and no_softmax exclude each other: without a softmax there "
                "are no posteriors to take the log of; give one of the two."
            )

    def check(self, output_dim: int) -> None:
        """Raises InputError if there is not one prior for each output."""
        if self.log_priors is not None and self.log_priors.shape != (output_dim,):
            raise InputError(
                f"log_priors are of shape {self.log_priors.shape}, but the network "
                f"puts out {output_dim} numbers a frame."
            )


def finish(outputs: Any, options: ScoreOptions) -> Any:
    """`outputs`, a tensor, after `apply_log` and the priors."""
    import tensorflow as tf

    if options.apply_log:
        outputs = tf.math.log(outputs + 1e-20)
    if options.log_priors is not None:
        outputs -= tf.constant(options.log_priors)
    return outputs
