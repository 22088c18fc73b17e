"""An nnet1 network on whole utterances, computed by TensorFlow."""

import logging
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from numpy.typing import NDArray

from seqzoo import layers
from seqzoo.datasets.errors import InputError
from seqzoo.zoo.acoustic import score_options
from seqzoo.zoo.acoustic.score_options import ScoreOptions
from seqzoo.zoo.checkpoints import along_time, components, keras_layers, nnet_edit
from seqzoo.zoo.checkpoints.nnet1 import Nnet

_LOG = logging.getLogger(__name__)
# Frames in one pass through the layers: enough to keep the matrix products busy,
# and a bound on the memory that a long utterance takes.
_BLOCK = 2048
# The same where frames of utterances are computed one after the other: the more
# utterances side by side, the faster.
_GROUP = 8192


class NnetScores:
    """Maps the features of utterances to the outputs of a network.

    Utterances are laid end to end, so none is padded. Up to its last `<Splice>` the
    network runs on them as they are, from there on in blocks of frames; or, with layers
    that look along time otherwise, such as LSTMs, on groups of utterances of like
    lengths, each from a state of zeros. Neither part is traced anew for another length.

    Args:
        nnet: the network. Dropout does nothing.
        feature_transform: in front of it.
        options: what to do with its outputs.

    Attributes:
        input_dim, output_dim: numbers in a frame of features, and of outputs.
        frames_a_call: frames to be given at a time, at least, for good speed.
        traces: how often a part was traced.

    Raises:
        InputError: if the parts do not fit together, or the options the network.
    """

    def __init__(
        self,
        nnet: Nnet,
        feature_transform: Nnet | None = None,
        options: ScoreOptions | None = None,
    ):
        options = options or ScoreOptions()
        if options.no_softmax:
            nnet = _without_softmax(nnet)
        if feature_transform is not None:
            if feature_transform.output_dim != nnet.input_dim:
                raise InputError(
                    f"the feature transform puts out {feature_transform.output_dim} "
                    f"numbers a frame, but the network takes {nnet.input_dim}."
                )
            nnet = nnet_edit.concat(feature_transform, nnet)
        options.check(nnet.output_dim)
        self.input_dim, self.output_dim = nnet.input_dim, nnet.output_dim
        self.traces = 0
        made = keras_layers.to_layers(nnet, trainable=False)
        cut = _after_splices(made)
        front, body = made[:cut], made[cut:]
        self._sequential = any(map(along_time.looks_along_time, body))
        self.frames_a_call = _GROUP if self._sequential else _BLOCK
        self._width = nnet.components[cut - 1].output_dim if cut else self.input_dim

        def splice(rows, lengths):
            self.traces += 1
            return along_time.on_rows(front, rows, lengths)

        def score(rows):
            self.traces += 1
            for layer in body:
                rows = layer(rows)
            return score_options.finish(rows, options)

        def score_group(rows, starts, lengths):
            self.traces += 1
            steps = tf.range(tf.reduce_max(lengths))
            mask = steps < lengths[:, tf.newaxis]
            index = tf.where(mask, starts[:, tf.newaxis] + steps, 0)
            x = tf.where(mask[..., tf.newaxis], tf.gather(rows, index), 0)
            for layer in body:
                x = along_time.call(layer, x, mask)
            return score_options.finish(tf.boolean_mask(x, mask), options)

        def frames(dim: int) -> tf.TensorSpec:
            return tf.TensorSpec((None, dim), tf.float32)

        numbers = tf.TensorSpec((None,), tf.int32)
        self._splice = tf.function(
            splice,
            input_signature=[frames(self.input_dim), numbers],
            autograph=False,
        )
        self._score = tf.function(
            score, input_signature=[frames(self._width)], autograph=False
        )
        self._score_group = tf.function(
            score_group,
            input_signature=[frames(self._width), numbers, numbers],
            autograph=False,
        )

    def __call__(
        self, utterances: Sequence[NDArray[np.float32]]
    ) -> list[NDArray[np.float32]]:
        """The outputs of some utterances, `(time, output_dim)` each.

        Args:
            utterances: features, `(time, input_dim)` each.
        """
        if not utterances:
            return []
        lengths = [len(feats) for feats in utterances]
        rows = self._splice(np.concatenate(utterances), np.array(lengths, np.int32))
        outputs = np.empty((sum(lengths), self.output_dim), np.float32)
        if self._sequential:
            self._score_sequences(rows, lengths, outputs)
            return np.split(outputs, np.cumsum(lengths)[:-1])
        for start in range(0, len(outputs), _BLOCK):
            part = slice(start, start + _BLOCK)
            outputs[part] = self._score(rows[part]).numpy()
        return np.split(outputs, np.cumsum(lengths)[:-1])

    def _score_sequences(
        self, rows: tf.Tensor, lengths: Sequence[int], outputs: NDArray[np.float32]
    ) -> None:
        starts = np.cumsum(lengths) - lengths
        for group in _groups(lengths):
            scores = self._score_group(
                rows,
                np.array([starts[n] for n in group], np.int32),
                np.array([lengths[n] for n in group], np.int32),
            ).numpy()
            done = 0
            for n in group:
                length = lengths[n]
                outputs[starts[n] : starts[n] + length] = scores[done : done + length]
                done += length


def _after_splices(made: Sequence[Any]) -> int:
    """How many layers there are up to the last splice, with no other layer along time
    before it."""
    cut = 0
    for number, layer in enumerate(made, 1):
        if isinstance(layer, layers.Splice):
            cut = number
        elif along_time.looks_along_time(layer):
            break
    return cut


def _groups(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Utterances of like lengths, so many that a group has up to `_GROUP` frames."""
    group: list[int] = []
    for n in sorted(range(len(lengths)), key=lambda n: lengths[n]):
        # Sorted, each is the longest so far, and so tells the padded size.
        if group and lengths[n] * (len(group) + 1) > _GROUP:
            yield group
            group = []
        group.append(n)
    if group:
        yield group


def _without_softmax(nnet: Nnet) -> Nnet:
    last = nnet.components[-1]
    if isinstance(last, components.Softmax):
        return nnet_edit.remove_last_components(nnet, 1)
    _LOG.warning("no_softmax: the network ends in %s, which is kept.", last.marker)
    return nnet
