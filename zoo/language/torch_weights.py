"""The layers of Torch's language models as settings and weights of ours.

A word's id is the same in both. Torch multiplies by `(inputs + outputs, 4 * cells)`
with the gates i, f, o, g; here weights stand one row a unit, gates i, f, c, o.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from seqzoo import layers as keras_layers
from seqzoo.datasets.errors import InputError
from seqzoo.zoo.checkpoints.torch_modules import (
    Dropout,
    Layer,
    Linear,
    LookupTable,
    Nce,
    SeqLstm,
    language_model,
)
from seqzoo.zoo.language.language_model import LanguageModel
from seqzoo.zoo.language.lstm_config import LstmConfig
from seqzoo.zoo.training import weight_files

_PIECE = 1 << 16  # Rows of a table set at a time.


def config(layers: Sequence[Layer], opt: Mapping[str, Any]) -> tuple[str, LstmConfig]:
    """The model that the layers are.

    Args:
        layers: from the lookup table to the output layer; see
            `torch_modules.language_model`.
        opt: the options of its training, of which those are taken that no layer tells:
            `Z`, which the layer has estimated by now, and `uniform`.

    Returns:
        Its name in the registry, and its settings.

    Raises:
        InputError: if there is no such model here.
    """
    if wrong := language_model(layers):
        raise InputError(f"not a language model: {wrong}.")
    table, *_, output = (layer for layer in layers if not isinstance(layer, Dropout))
    assert isinstance(table, LookupTable) and isinstance(output, Nce | Linear)
    lstms = _lstms(layers)
    if table.mask_zero and not all(lstm.mask_zero for lstm in lstms):
        raise InputError(
            "LSTMs without maskzero behind a LookupTableMaskZero keep their state "
            "between sentences; only such that forget it there are taken."
        )
    more: dict[str, Any] = {"output": "full_softmax"}
    if isinstance(output, Nce):
        given = opt.get("Z")
        estimated = isinstance(given, int | float) and given <= 0
        more = {
            "output": "nce",
            "k": output.k,
            "Z": -1.0 if estimated else output.z,
            "rownoise": not output.batch_noise,
        }
    if isinstance(uniform := opt.get("uniform"), int | float):
        more["uniform"] = float(uniform)
    widths = tuple(lstm.outputs for lstm in lstms)
    dim = table.weight.shape[1]
    return "language/lstm", LstmConfig(
        words=len(table.weight),
        hiddensize=widths,
        inputsize=-1 if dim == widths[0] else dim,
        projsize=_projsize(lstms),
        dropout=_dropout(layers),
        **more,
    )


def set_weights(model: LanguageModel, layers: Sequence[Layer]) -> None:
    """Gives a model of `config(layers, ...)` the weights of the layers.

    The noise's tables are left: `model.set_counts` makes them, of `unigrams`.
    """
    table, *_, output = (layer for layer in layers if not isinstance(layer, Dropout))
    assert isinstance(table, LookupTable) and isinstance(output, Nce | Linear)
    _put_below(model.embedding.embeddings.value, table.weight)
    for layer, lstm in zip(model.recurrent.layers, _lstms(layers), strict=True):
        assert isinstance(layer, keras_layers.SeqLSTM)
        layer.w_ifco_x.assign(_gates(lstm.weight[: lstm.inputs]).T)
        layer.w_ifco_h.assign(_gates(lstm.weight[lstm.inputs :]).T)
        layer.bias.assign(_gates(lstm.bias))
        if lstm.projection is not None:
            layer.w_h_m.assign(lstm.projection.T)
    weight_files.assign(model.output_layer.linearity.value, output.weight)
    weight_files.assign(model.output_layer.bias.value, output.bias)
    if isinstance(output, Nce):
        model.output_layer.z.assign(max(output.z, 0))  # 0 is estimated later.


def _lstms(layers: Sequence[Layer]) -> list[SeqLstm]:
    return [layer for layer in layers if isinstance(layer, SeqLstm)]


def _projsize(lstms: Sequence[SeqLstm]) -> int:
    cells = {-1 if lstm.projection is None else lstm.cells for lstm in lstms}
    if len(cells) > 1:
        found = ", ".join(
            f"{lstm.cells} cells"
            + ("" if lstm.projection is None else f" projected to {lstm.outputs}")
            for lstm in lstms
        )
        raise InputError(
            f"LSTMs of {found}: all with as many cells and a projection, or all "
            "without a projection are taken."
        )
    return cells.pop()


def _dropout(layers: Sequence[Layer]) -> float:
    """The share that is dropped; torch-rnn drops nothing of the word vectors."""
    rates = [layer.rate for layer in layers if isinstance(layer, Dropout)]
    return max(rates, default=0.0)


def _gates(values: np.ndarray) -> np.ndarray:
    """Gates i, f, o, g along the last axis in our order i, f, c, o."""
    i, f, o, g = np.split(values, 4, axis=-1)
    return np.concatenate([i, f, g, o], axis=-1)


def _put_below(table: tf.Variable, rows: np.ndarray) -> None:
    """Sets row 1 and on of a table, some at a time; row 0 is that of no word."""
    dtype = table.dtype.as_numpy_dtype
    for start in range(0, len(rows), _PIECE):
        piece = np.asarray(rows[start : start + _PIECE], dtype)
        places = tf.range(start + 1, start + 1 + len(piece))
        table.scatter_update(tf.IndexedSlices(piece, places))
