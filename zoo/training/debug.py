"""What flows through a list of layers: outputs, back-propagated signals, gradients."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from seqzoo import layers
from seqzoo.zoo.checkpoints import along_time, keras_layers, nnet_info
from seqzoo.zoo.training.frame_objective import FrameObjective

Array = np.ndarray


@dataclasses.dataclass(frozen=True)
class Gradients:
    """What one minibatch's loss sends back.

    Attributes:
        diffs: gradient of the summed loss to each layer's output, `(frames, dim)`;
            without the one to a final Softmax, which the loss takes over.
        parameters: for each layer, the gradient of each weight under the name
            `info` gives it (`linearity`, `bias`), in the file's layout.
    """

    diffs: list[Array]
    parameters: list[dict[str, Array]]


def activations(
    net: Sequence[keras.layers.Layer], inputs: Any, mask: Any = None
) -> list[Array]:
    """The output of each layer in turn, `(frames, dim)` each.

    Args:
        net: layers, as of `keras_layers.to_layers`.
        inputs: `(frames, dim)`, or `(batch, time, dim)` for layers across frames, whose
            states start from zeros.
        mask: `(batch, time)` of the frames that are no padding.
    """
    outputs = []
    x = tf.convert_to_tensor(inputs)
    for layer in net:
        x = along_time.call(layer, x, mask)
        outputs.append(tf.cast(x, tf.float32).numpy())
    return outputs


def gradients(
    net: Sequence[keras.layers.Layer], objective: str, batch: Mapping[str, Any]
) -> Gradients:
    """What `FrameTrainer` would send back for a minibatch, without an update.

    Args:
        net: layers.
        objective: as of `FrameTrainer`.
        batch: `inputs` (frames, dim), `ids` and `values` (frames, k), `weights`
            (frames,); or `inputs` (batch, time, dim) with a `mask` (batch, time).
    """
    ending = FrameObjective(net, objective)
    named = [
        {k: w for k, w in keras_layers.parameters(layer).items() if w.trainable}
        for layer in net
    ]
    weights = [[layers.source(w) for w in names.values()] for names in named]
    outputs = []
    with tf.GradientTape() as tape:
        # A shadow is read in place of its weight; by itself it is not watched.
        tape.watch(weights)
        x = tf.convert_to_tensor(batch["inputs"])
        for layer in ending.body:
            x = along_time.call(layer, x, batch.get("mask"))
            tape.watch(x)
            outputs.append(x)
    flat = tf.reshape(tf.cast(x, tf.float32), [-1, x.shape[-1]])
    loss = ending.loss(flat, batch["ids"], batch["values"], batch["weights"])
    sent = tf.cast(tf.reshape(loss.diff, tf.shape(x)), x.dtype)
    # All in one pass back.
    inner, found = tape.gradient(x, [outputs[:-1], weights], output_gradients=sent)
    return Gradients(
        [_array(diff) for diff in (*inner, sent)],
        [
            {name: _array(g) for name, g in zip(names, of_layer, strict=True)}
            for names, of_layer in zip(named, found, strict=True)
        ],
    )


def _array(tensor: tf.Tensor) -> Array:
    return tf.cast(tensor, tf.float32).numpy()


def statistics(
    net: Sequence[keras.layers.Layer], objective: str, batch: Mapping[str, Any]
) -> str:
    """Minimum, maximum and moments of all of it, as nnet1 logs them.

    Compare them with those of a run that is known to be good: a layer whose outputs
    saturate, or whose back-propagated signal vanishes or explodes, shows here.
    """
    markers = [keras_layers.marker(layer) for layer in net]
    outputs = activations(net, batch["inputs"], batch.get("mask"))
    lines = ["### Forward propagation buffer content :"]
    for number, (name, values) in enumerate(
        zip(["<Input>", *markers], [batch["inputs"], *outputs], strict=True), 1
    ):
        lines.append(f"[{number}] output of {name} {_moments(values)} ")
    found = gradients(net, objective, batch)
    lines += ["", "### Backward propagation buffer content :"]
    for number, (name, diff) in enumerate(zip(markers, found.diffs, strict=False), 1):
        lines.append(f"[{number}] diff-output of {name} {_moments(diff)} ")
    lines += ["", "### Gradient stats :"]
    for number, (name, parts) in enumerate(
        zip(markers, found.parameters, strict=True), 1
    ):
        lines.append(f"Component {number} : {name}, ")
        lines += [f"  {part}_grad {_moments(g)} " for part, g in parts.items()]
    return "\n".join(lines) + "\n"


def _moments(values: Any) -> str:
    return nnet_info.moments(np.asarray(values, np.float32))
