"""A SavedModel on whole utterances."""

from collections.abc import Iterator, Sequence

import numpy as np
import tensorflow as tf
from numpy.typing import NDArray

from seqzoo.datasets.errors import InputError
from seqzoo.zoo.acoustic import score_options
from seqzoo.zoo.acoustic.score_options import ScoreOptions

_FRAMES = 2048  # in a padded batch, at most, unless one utterance has more
_FILLED = 0.75  # of a padded batch, at least


def find(path: str) -> str | None:
    """The SavedModel that `path` names: itself, or its version of the highest number.

    Args:
        path: a folder, local or remote.

    Returns:
        Its folder; None if there is none.
    """
    gfile = tf.io.gfile

    def is_one(folder: str) -> bool:
        return gfile.exists(f"{folder}/saved_model.pb")

    path = path.rstrip("/") or path
    if not gfile.isdir(path):
        return None
    if is_one(path):
        return path
    names = [name.strip("/") for name in gfile.listdir(path)]
    versions = sorted(int(name) for name in names if name.isdecimal())
    found = [f"{path}/{version}" for version in versions]
    return next(filter(is_one, reversed(found)), None)


class SavedModelScores:
    """Maps the features of utterances to the outputs of a SavedModel.

    Args:
        directory: a SavedModel as `export.saved_model` writes it: the signature
            `posteriors`, or `outputs` where there is no softmax, takes `feats` and
            `lengths`.
        options: what to do with its outputs.

    Attributes:
        input_dim, output_dim: numbers in a frame of features, and of outputs.
        options: see above; they can be set later, when `output_dim` is known.

    Raises:
        InputError: if it is none, or the options do not fit it.
    """

    def __init__(self, directory: str, options: ScoreOptions | None = None):
        try:
            self._loaded = tf.saved_model.load(directory)
        except (OSError, ValueError, tf.errors.OpError) as error:
            reason = " ".join(str(error).split())
            raise InputError(f"{directory}: cannot load it: {reason}") from None
        signatures = self._loaded.signatures
        name = "posteriors" if "posteriors" in signatures else "outputs"
        if name not in signatures:
            raise InputError(
                f"{directory}: its signatures are {', '.join(signatures) or 'none'}; "
                "posteriors or outputs is taken, with feats and lengths."
            )
        self._signature = signatures[name]
        inputs = self._signature.structured_input_signature[1]
        if set(inputs) != {"feats", "lengths"}:
            raise InputError(
                f"{directory}: signature {name} takes {', '.join(sorted(inputs))}; "
                "feats and lengths are given here."
            )
        self._name = name
        self.input_dim = inputs["feats"].shape[-1]
        self.output_dim = self._signature.structured_outputs[name].shape[-1]
        self._directory = directory
        self.options = options or ScoreOptions()

    @property
    def options(self) -> ScoreOptions:
        return self._options

    @options.setter
    def options(self, options: ScoreOptions) -> None:
        if self._name == "posteriors" and options.no_softmax:
            raise InputError(
                f"{self._directory}: no_softmax: a SavedModel keeps its softmax; "
                "apply_log gives the same but for a constant in each frame, "
                "or give the network it was made of."
            )
        options.check(self.output_dim)
        self._options = options

    def __call__(
        self, utterances: Sequence[NDArray[np.float32]]
    ) -> list[NDArray[np.float32]]:
        """The outputs of some utterances, `(time, output_dim)` each.

        Args:
            utterances: features, `(time, input_dim)` each.
        """
        return [scores for group in _groups(utterances) for scores in self._run(group)]

    def _run(
        self, utterances: Sequence[NDArray[np.float32]]
    ) -> Iterator[NDArray[np.float32]]:
        lengths = [len(feats) for feats in utterances]
        padded = np.zeros((len(lengths), max(lengths), self.input_dim), np.float32)
        for row, feats in zip(padded, utterances, strict=True):
            row[: len(feats)] = feats
        outputs = self._signature(
            feats=tf.constant(padded), lengths=tf.constant(lengths, tf.int32)
        )[self._name]
        outputs = score_options.finish(outputs, self._options).numpy()
        for length, scores in zip(lengths, outputs, strict=True):
            yield scores[:length]


def _groups(
    utterances: Sequence[NDArray[np.float32]],
) -> Iterator[list[NDArray[np.float32]]]:
    """Neighbours that pad each other little enough to be worth one call."""
    group: list[NDArray[np.float32]] = []
    for feats in utterances:
        lengths = [len(x) for x in [*group, feats]]
        size = len(lengths) * max(lengths)
        if group and (size > _FRAMES or sum(lengths) < _FILLED * size):
            yield group
            group = []
        group.append(feats)
    if group:
        yield group
