"""Frames: blocks of utterances into shuffled minibatches, as tf.data steps."""

from collections.abc import Callable

import tensorflow as tf

Transform = Callable[[tf.Tensor, tf.Tensor], tf.Tensor]
Permutation = Callable[[tf.Tensor, tf.Tensor], tf.Tensor]

_ROWS = ("inputs", "ids", "values", "weights")


def transform(
    function: Transform | None,
) -> Callable[[tf.data.Dataset], tf.data.Dataset]:
    """Step: features of whole utterances into the network's inputs.

    Frames of weight 0 serve as context and are then left out.

    Args:
        function: `(feats (frames, dim), lengths (utterances,)) -> (frames, dim)`,
            a fixed function of each utterance (splice, shift, rescale); None
            passes the features on.

    Returns:
        A step from blocks to `{"inputs", "ids", "values", "weights", "last"}`.
    """

    def one(block):
        inputs = block["feats"]
        if function is not None:
            inputs = function(inputs, block["lengths"])
        rows = {**{name: block[name] for name in _ROWS[1:]}, "inputs": inputs}
        counted = block["weights"] != 0
        rows = tf.cond(
            tf.reduce_all(counted),
            lambda: rows,
            lambda: {k: tf.boolean_mask(v, counted) for k, v in rows.items()},
        )
        rows["inputs"] = tf.ensure_shape(rows["inputs"], [None, inputs.shape[1]])
        return {**rows, "last": block["last"]}

    return lambda dataset: dataset.map(one, num_parallel_calls=1)


def randomize(
    minibatch_size: int,
    permutation: Permutation | None = None,
    drop_tail: bool = False,
    mark_last: bool = False,
) -> Callable[[tf.data.Dataset], tf.data.Dataset]:
    """Step: blocks into fillings of the frame buffer, their rows in training order.

    A filling is what the last one left over, then the block's frames, permuted
    together; what does not fill a whole minibatch is kept for the next filling.
    The last filling keeps its partial minibatch, or with `drop_tail` loses it as
    nnet1 does.

    Args:
        minibatch_size: frames.
        permutation: `(filling number, frames) -> (frames,)` int32 with
            `new[i] = old[permutation[i]]`; None keeps the order (for validation).
        drop_tail: leave out the end of the set that does not fill a minibatch.
        mark_last: for a set that repeats: keep fillings without rows, and add
            `"last"`, whether the set ends with a filling. Their numbers go on.

    Returns:
        A step from `transform`'s elements to `{"inputs", "ids", "values",
        "weights"}` of a multiple of `minibatch_size` rows, the last of any.

    Source: Kaldi nnet1, src/nnet/nnet-randomizer.h.
    """

    def apply(dataset: tf.data.Dataset) -> tf.data.Dataset:
        spec = dataset.element_spec
        state = {
            "inputs": tf.zeros([0, spec["inputs"].shape[1]], spec["inputs"].dtype),
            "ids": tf.zeros([0, 1], tf.int32),
            "values": tf.zeros([0, 1]),
            "weights": tf.zeros([0]),
            "number": tf.constant(0, tf.int64),
        }

        def fill(state, block):
            width = tf.maximum(tf.shape(state["ids"])[1], tf.shape(block["ids"])[1])
            rows = {}
            for name in _ROWS:
                before, new = state[name], block[name]
                if name in ("ids", "values"):
                    before, new = _widen(before, width), _widen(new, width)
                rows[name] = tf.concat([before, new], axis=0)
            frames = tf.shape(rows["weights"])[0]
            if permutation is not None:
                order = permutation(state["number"], frames)
                rows = {name: tf.gather(rows[name], order) for name in _ROWS}
            whole = frames - frames % minibatch_size
            if not drop_tail:
                whole = tf.where(block["last"], frames, whole)
            left = tf.where(block["last"], frames, whole)
            kept = {name: rows[name][left:] for name in _ROWS}
            used = {name: rows[name][:whole] for name in _ROWS}
            if mark_last:
                used["last"] = block["last"]
            return {**kept, "number": state["number"] + 1}, used

        fillings = dataset.scan(state, fill)
        if mark_last:
            return fillings
        return fillings.filter(lambda rows: tf.size(rows["weights"]) > 0)

    return apply


def seeded_permutation(
    seed: int, epoch: tf.Variable | int = 0, first: int = 0
) -> Permutation:
    """A permutation that depends on the seed, the epoch and the filling alone.

    Args:
        seed: any int.
        epoch: a number, or an int64 scalar variable, read when an iterator reaches a
            filling, so that one dataset serves all epochs.
        first: the number of the first filling; that of a set that repeats, and is
            taken up again after some epochs, is not 0.
    """

    def permute(number: tf.Tensor, frames: tf.Tensor) -> tf.Tensor:
        stream = tf.stack([tf.cast(seed, tf.int64), epoch * 1_000_003 + first + number])
        return tf.random.experimental.stateless_shuffle(tf.range(frames), stream)

    return permute


def minibatches(minibatch_size: int) -> Callable[[tf.data.Dataset], tf.data.Dataset]:
    """Step: fillings into minibatches, one element each, for `keras.Model.fit`.

    seqzoo's own trainer takes whole fillings and loops over them in the graph.
    """

    def split(rows):
        return tf.data.Dataset.from_tensor_slices(rows).batch(minibatch_size)

    return lambda dataset: dataset.flat_map(split)


def _widen(pairs: tf.Tensor, width: tf.Tensor) -> tf.Tensor:
    return tf.pad(pairs, [[0, 0], [0, width - tf.shape(pairs)[1]]])
