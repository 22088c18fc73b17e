"""Recurrent layers as plain loops over frames, in float64.

Everything is written for one sequence, `(time, dim)`; weights are the layers' own,
with gates in the order i, f, c, o.
"""

import dataclasses
from typing import Any

import numpy as np


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


@dataclasses.dataclass
class Lstm:
    """The weights of a direction and what limits it."""

    inputs: Any
    recurrent: Any
    bias: Any
    peephole_i: Any
    peephole_f: Any
    peephole_o: Any
    projection: Any
    cell_clip: float = 0.0

    @classmethod
    def of(cls, layer, prefix=""):
        names = "w_ifco_x w_ifco_r bias peephole_i_c peephole_f_c peephole_o_c w_r_m"
        values = (
            getattr(layer, prefix + name).value.numpy().astype(np.float64)
            for name in names.split()
        )
        return cls(*values, cell_clip=layer.cell_clip)

    def run(self, x, mask=None, state=None):
        """Outputs, and everything of each frame."""
        units, cells = self.projection.shape
        r, c = (np.zeros(units), np.zeros(cells)) if state is None else state
        frames = []
        for t in range(len(x)):
            z = self.inputs @ x[t] + self.recurrent @ r + self.bias
            zi, zf, zg, zo = np.split(z, 4)
            before = r, c
            i = sigmoid(zi + self.peephole_i * c)
            f = sigmoid(zf + self.peephole_f * c)
            g = np.tanh(zg)
            c = f * c + i * g
            if self.cell_clip:
                c = np.clip(c, -self.cell_clip, self.cell_clip)
            o = sigmoid(zo + self.peephole_o * c)
            m = o * np.tanh(c)
            r = self.projection @ m
            if mask is not None and not mask[t]:
                r, c = np.zeros(units), np.zeros(cells)
            frames.append(
                {"i": i, "f": f, "g": g, "o": o, "m": m, "r": r, "c": c, "was": before}
            )
        outputs = np.array([frame["r"] for frame in frames])
        return outputs, frames

    def nnet1_gradient(self, x, grad, diff_clip=0.0, cell_diff_clip=0.0, late=False):
        """Of sum(grad * outputs) by nnet1's rules: dx, then by weight, in order.

        A clipped cell is passed as if it were not. With `late`, the frame after stands
        in for the one before, as in nnet1's backward direction.
        """
        outputs, frames = self.run(x)
        found = [np.zeros_like(w) for w in dataclasses.astuple(self)[:7]]
        dx = np.zeros_like(x)
        zeros = np.zeros_like(self.bias)
        later, dc_later, f_later = zeros, np.zeros_like(frames[0]["c"]), 0.0
        for t in reversed(range(len(x))):
            at = frames[t]
            r_before, c_before = at["was"]
            r_pair, c_pair = r_before, c_before
            if late and t + 1 < len(x):
                r_pair, c_pair = frames[t + 1]["r"], frames[t + 1]["c"]
            elif late:
                r_pair, c_pair = np.zeros_like(r_before), np.zeros_like(c_before)
            i_later, later_f, _, _ = np.split(later, 4)
            dr = grad[t] + self.recurrent.T @ later
            dm = self.projection.T @ dr
            h = np.tanh(at["c"])
            do = dm * h * at["o"] * (1 - at["o"])
            dc = dm * at["o"] * (1 - h * h) + do * self.peephole_o
            dc = dc + dc_later * f_later
            dc = dc + i_later * self.peephole_i + later_f * self.peephole_f
            if cell_diff_clip:
                dc = np.clip(dc, -cell_diff_clip, cell_diff_clip)
            di = dc * at["g"] * at["i"] * (1 - at["i"])
            df = dc * c_pair * at["f"] * (1 - at["f"])
            dg = dc * at["i"] * (1 - at["g"] ** 2)
            d = np.concatenate([di, df, dg, do])
            if diff_clip:
                d = np.clip(d, -diff_clip, diff_clip)
            di, df, _, do = np.split(d, 4)
            dx[t] = self.inputs.T @ d
            for total, part in zip(
                found,
                [
                    np.outer(d, x[t]),
                    np.outer(d, r_pair),
                    d,
                    di * c_before,
                    df * c_before,
                    do * at["c"],
                    np.outer(dr, at["m"]),
                ],
                strict=True,
            ):
                total += part
            later, dc_later, f_later = d, dc, at["f"]
        return [dx, *found]


def recurrent(x, forward, back, bias, mask=None, state=None):
    """Outputs of the simple recurrent layer."""
    y = np.zeros(len(bias)) if state is None else state
    outputs = []
    for t in range(len(x)):
        y = np.tanh(forward @ x[t] + back @ y + bias)
        if mask is not None and not mask[t]:
            y = np.zeros_like(y)
        outputs.append(y)
    return np.array(outputs)


def recurrent_gradient(x, grad, forward, back, bias, diff_clip):
    """nnet1's: each derivative is clipped once the later frame has added to it."""
    y = recurrent(x, forward, back, bias)
    found = [np.zeros_like(v) for v in (x, forward, back, bias)]
    dy = grad[-1]
    for t in reversed(range(len(x))):
        dz = dy * (1 - y[t] ** 2)
        before = y[t - 1] if t else np.zeros_like(dz)
        found[0][t] = forward.T @ dz
        found[1] += np.outer(dz, x[t])
        found[2] += np.outer(dz, before)
        found[3] += dz
        if t:
            dy = np.clip(grad[t - 1] + back.T @ dz, -diff_clip, diff_clip)
    return found


def finite_differences(function, array, step=1e-5):
    """The gradient of a scalar function by an array that it reads, in place."""
    found = np.zeros_like(array)
    for at in np.ndindex(array.shape):
        kept = array[at]
        array[at] = kept + step
        above = function()
        array[at] = kept - step
        found[at] = (above - function()) / (2 * step)
        array[at] = kept
    return found
