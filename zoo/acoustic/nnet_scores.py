"""An nnet1 network on whole utterances, computed by TensorFlow."""

import logging
from collections.abc import Sequence

import numpy as np
import tensorflow as tf
from numpy.typing import NDArray

from seqzoo import layers
from seqzoo.datasets.errors import InputError
from seqzoo.zoo.acoustic import score_options
from seqzoo.zoo.acoustic.score_options import ScoreOptions
from seqzoo.zoo.checkpoints import components, keras_layers, nnet_edit
from seqzoo.zoo.checkpoints.nnet1 import Nnet

_LOG = logging.getLogger(__name__)
# Frames in one pass through the layers: enough to keep the matrix products busy,
# and a bound on the memory that a long utterance takes.
_BLOCK = 2048


class NnetScores:
    """Maps the features of utterances to the outputs of a network.

    Utterances are laid end to end, so none is padded. Up to its last `<Splice>` the
    network runs on them as they are, from there on in blocks of frames. Neither part
    is traced anew for another length.

    Args:
        nnet: the network. Dropout does nothing.
        feature_transform: in front of it.
        options: what to do with its outputs.

    Attributes:
        input_dim, output_dim: numbers in a frame of features, and of outputs.
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
        spliced = [n for n, x in enumerate(made, 1) if isinstance(x, layers.Splice)]
        cut = max(spliced, default=0)
        front, body = made[:cut], made[cut:]
        self._width = nnet.components[cut - 1].output_dim if cut else self.input_dim

        def splice(rows, lengths):
            self.traces += 1
            for layer in front:
                if isinstance(layer, layers.Splice):
                    rows = layers.splice_rows(rows, lengths, layer.offsets)
                else:
                    rows = layer(rows)
            return rows

        def score(rows):
            self.traces += 1
            for layer in body:
                rows = layer(rows)
            return score_options.finish(rows, options)

        def frames(dim: int) -> tf.TensorSpec:
            return tf.TensorSpec((None, dim), tf.float32)

        self._splice = tf.function(
            splice,
            input_signature=[
                frames(self.input_dim),
                tf.TensorSpec((None,), tf.int32),
            ],
        )
        self._score = tf.function(score, input_signature=[frames(self._width)])

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
        for start in range(0, len(outputs), _BLOCK):
            part = slice(start, start + _BLOCK)
            outputs[part] = self._score(rows[part]).numpy()
        return np.split(outputs, np.cumsum(lengths)[:-1])


def _without_softmax(nnet: Nnet) -> Nnet:
    last = nnet.components[-1]
    if isinstance(last, components.Softmax):
        return nnet_edit.remove_last_components(nnet, 1)
    _LOG.warning("no_softmax: the network ends in %s, which is kept.", last.marker)
    return nnet
