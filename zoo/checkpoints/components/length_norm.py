"""`<LengthNormComponent>`: frames scaled to length 1."""

from __future__ import annotations

import numpy as np

from seqzoo.zoo.checkpoints.components.component import (
    Component,
    check_same_dims,
    register,
)


@register("<LengthNormComponent>")
class LengthNorm(Component):
    """`y = x / |x|`; a frame of zeros becomes NaN, as in nnet1."""

    check = check_same_dims

    def propagate(self, feats: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore"):
            return feats / np.linalg.norm(feats, axis=1, keepdims=True)
