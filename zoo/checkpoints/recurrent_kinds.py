"""The pairs of recurrent components and layers."""

from typing import Any

import numpy as np

from seqzoo import layers
from seqzoo.zoo.checkpoints import components
from seqzoo.zoo.checkpoints.layer_kinds import LayerKind, pair, register, units


def to_ifco(rows: np.ndarray) -> np.ndarray:
    """Blocks of rows in nnet1's order of gates, g i f o, in the layers': i f c o."""
    g, i, f, o = np.split(rows, 4)
    return np.concatenate([i, f, g, o])


def to_gifo(rows: np.ndarray) -> np.ndarray:
    """The way back."""
    i, f, g, o = np.split(rows, 4)
    return np.concatenate([g, i, f, o])


_OPTIONS = (
    "cell_dim",
    "cell_clip",
    "diff_clip",
    "cell_diff_clip",
    "grad_clip",
    "learn_rate_coef",
    "bias_learn_rate_coef",
)
# Attributes of the component and the layer, in the order of the file.
_WEIGHTS = {
    "w_gifo_x": "w_ifco_x",
    "w_gifo_r": "w_ifco_r",
    "bias": "bias",
    "peephole_i_c": "peephole_i_c",
    "peephole_f_c": "peephole_f_c",
    "peephole_o_c": "peephole_o_c",
    "w_r_m": "w_r_m",
}
_BY_GATE = ("w_gifo_x", "w_gifo_r", "bias")


def _lstm(component: Any, layer: Any, prefixes: tuple[str, ...]) -> LayerKind:
    by_gate = [p + name for p in prefixes for name in _BY_GATE]
    return pair(
        component,
        layer,
        *_OPTIONS,
        given=units,
        weights={
            p + name: p + ours for p in prefixes for name, ours in _WEIGHTS.items()
        },
        to_layer=dict.fromkeys(by_gate, to_ifco),
        to_component=dict.fromkeys(by_gate, to_gifo),
    )


register(_lstm(components.LstmProjected, layers.LstmProjected, ("",)))
register(_lstm(components.BlstmProjected, layers.BlstmProjected, ("f_", "b_")))

register(
    pair(
        components.RecurrentComponent,
        layers.Recurrent,
        "grad_clip",
        "diff_clip",
        "learn_rate_coef",
        "bias_learn_rate_coef",
        given=units,
        weights=("w_forward", "w_recurrent", "bias"),
    )
)
