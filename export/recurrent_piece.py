"""A recurrent layer on pieces of utterances that may differ in length."""

from typing import Any

import tensorflow as tf

Tensors = tuple[tf.Tensor, ...]


def run_piece(
    layer: Any, rows: tf.Tensor, state: Tensors, lengths: tf.Tensor
) -> tuple[tf.Tensor, Tensors]:
    """Runs a layer on from a state, each piece to its own end.

    The layer's own mask would clear the state behind the end of a piece. So only
    pieces of one length are given to it whole; others go frame by frame, slower.

    Args:
        layer: has `run(inputs, state)`.
        rows: `(batch, time, dim)`.
        state: after the pieces before.
        lengths: `(batch,)` int32, frames in each piece.

    Returns:
        `(batch, time, units)`, 0 behind the end of a piece, and the state after it.
    """
    time = tf.shape(rows)[1]
    # The layer's loops do not take pieces without a frame.
    padded = tf.pad(rows, [[0, 0], [0, tf.maximum(1 - time, 0)], [0, 0]])
    whole = tf.logical_and(tf.reduce_all(lengths == time), time > 0)
    flat = tf.cond(
        whole,
        lambda: _flat(*layer.run(padded, state)),
        lambda: _flat(*_by_frames(layer, padded, state, lengths)),
    )
    return flat[0][:, :time], flat[1:]


def _flat(outputs: tf.Tensor, state: Tensors) -> Tensors:
    return (tf.cast(outputs, tf.float32), *(tf.cast(s, tf.float32) for s in state))


def _by_frames(
    layer: Any, rows: tf.Tensor, state: Tensors, lengths: tf.Tensor
) -> tuple[tf.Tensor, Tensors]:
    time = tf.shape(rows)[1]
    width = layer.state_sizes[0]  # The output is the state's first part.
    outputs = tf.TensorArray(tf.float32, time, element_shape=(None, width))

    def one(t: tf.Tensor, state: Tensors, outputs: Any) -> Any:
        frame = tf.gather(rows, t, axis=1)[:, tf.newaxis]
        output, new = layer.run(frame, state)
        real = (t < lengths)[:, tf.newaxis]
        state = tuple(
            tf.where(real, tf.cast(after, tf.float32), before)
            for after, before in zip(new, state, strict=True)
        )
        output = tf.where(real, tf.cast(output[:, 0], tf.float32), 0.0)
        return t + 1, state, outputs.write(t, output)

    _, state, outputs = tf.while_loop(
        lambda t, *_: t < time,
        one,
        (0, state, outputs),
        shape_invariants=(
            tf.TensorShape([]),
            tuple(tf.TensorShape([None, size]) for size in layer.state_sizes),
            tf.TensorShape(None),
        ),
    )
    return tf.transpose(outputs.stack(), [1, 0, 2]), state
