"""A loop over the steps of sequences, written out where it is short."""

from collections.abc import Callable, Sequence

import tensorflow as tf

# Sequences of a fixed length up to this are written out step by step: a little
# faster than a loop in the graph, and still traced within a second or two.
_LONGEST_UNROLLED = 32

Tensors = tuple[tf.Tensor, ...]


def time_loop(
    step: Callable[[Tensors, Tensors], tuple[Tensors, Tensors]],
    state: Tensors,
    sequences: Tensors,
    outputs: Sequence[tf.TensorSpec],
    reverse: bool = False,
) -> tuple[Tensors, Tensors]:
    """Runs `state, out = step(state, at_t)` for each step `t`.

    Gradients do not flow through it where it is a loop: its users bring their own.

    Args:
        step: `at_t` holds one step of each sequence.
        state: before the first step.
        sequences: one or more, time first, of one length.
        outputs: what one `out` looks like.
        reverse: from the last step to the first; outputs stay at the place of
            their step.

    Returns:
        The state after the last step, and the outputs, each stacked with time first.
    """
    length = sequences[0].shape[0]
    if length is not None and 0 < length <= _LONGEST_UNROLLED:
        return _unrolled(step, state, sequences, len(outputs), length, reverse)
    length = tf.shape(sequences[0])[0]
    arrays = tuple(
        tf.TensorArray(spec.dtype, length, element_shape=spec.shape) for spec in outputs
    )

    def one(count, state, arrays):
        t = length - 1 - count if reverse else count
        state, out = step(state, tuple(tf.gather(s, t) for s in sequences))
        written = tuple(
            array.write(t, value) for array, value in zip(arrays, out, strict=True)
        )
        return count + 1, state, written

    shapes = tuple(tf.TensorShape(s.shape) for s in state)
    _, state, arrays = tf.while_loop(
        lambda count, *_: count < length,
        one,
        (0, tuple(state), arrays),
        shape_invariants=(
            tf.TensorShape([]),
            shapes,
            tuple(tf.TensorShape(None) for _ in arrays),
        ),
        parallel_iterations=1,
    )
    return state, tuple(array.stack() for array in arrays)


def _unrolled(step, state, sequences, outputs, length, reverse):
    rows = [tf.unstack(sequence, length) for sequence in sequences]
    made = []
    for t in reversed(range(length)) if reverse else range(length):
        state, out = step(state, tuple(row[t] for row in rows))
        made.append(out)
    if reverse:
        made.reverse()
    return state, tuple(tf.stack([out[i] for out in made]) for i in range(outputs))
