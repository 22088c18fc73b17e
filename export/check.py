"""Compares a SavedModel, as a process without our code runs it, with its model."""

import logging

import keras
import numpy as np
import tensorflow as tf
from numpy.typing import ArrayLike, NDArray

from seqzoo.datasets.errors import InputError
from seqzoo.export import fresh_process, run_signatures
from seqzoo.export.float32 import in_float32

_LOG = logging.getLogger(__name__)
_LENGTHS = (23, 7)
_HUGE = 1e18  # scores of classes without a prior; they say nothing of the others


def check(
    directory: str,
    model: keras.Model,
    *,
    log_priors: ArrayLike | None = None,
    keep_compute_type: bool = False,
    step: bool = False,
    seed: int = 0,
) -> dict[str, float]:
    """Runs all signatures in a fresh process and compares them with `model`.

    The process imports TensorFlow and NumPy only. It scores two utterances of random
    features in one padded batch, with large numbers in the padding; the model scores
    them one by one, as they are.

    Args:
        directory: a SavedModel that `saved_model.export` wrote of `model`.
        model: the same model, in memory.
        log_priors, keep_compute_type: what it was exported with.
        step: whether it has the signature `step`.
        seed: of the features.

    Returns:
        The largest absolute difference in each signature.

    Raises:
        InputError: if it cannot be loaded or run there, has other signatures, or
            differs by more than 1e-5 of the numbers' size, or by a hundredth where
            it computes in a shorter type than float32.
    """
    random = np.random.default_rng(seed)
    dim = int(model.input["feats"].shape[-1])
    feats = random.normal(size=(len(_LENGTHS), max(_LENGTHS), dim)).astype(np.float32)
    for utterance, length in zip(feats, _LENGTHS, strict=True):
        utterance[length:] *= 1e6
    request = {"feats": feats, "lengths": np.array(_LENGTHS, np.int32)}
    found = fresh_process.run(run_signatures.__file__, directory, request)
    plain = in_float32(model)
    shorter = keep_compute_type and plain is not model
    tolerance = 1e-2 if shorter else 1e-5
    expected = _expected(model if shorter else plain, feats, log_priors)
    if step:
        expected["step/outputs"] = expected["serving_default/outputs"]
    if found.keys() != expected.keys():
        raise InputError(
            f"the SavedModel's signatures are {', '.join(sorted(found))}; "
            f"{', '.join(sorted(expected))} are expected."
        )
    differences = {}
    for key, values in expected.items():
        name = key.partition("/")[0]
        differences[name] = _difference(name, found[key], values, tolerance)
    return differences


def _expected(
    model: keras.Model, feats: NDArray[np.float32], log_priors: ArrayLike | None
) -> dict[str, NDArray[np.float64]]:
    """The outputs as `signature/output`, from utterances without padding, in NumPy."""
    [key] = model.output
    shape = (*feats.shape[:2], int(model.output[key].shape[-1]))
    scores = np.zeros(shape)
    for output, utterance, length in zip(scores, feats, _LENGTHS, strict=True):
        inputs = {"feats": tf.constant(utterance[np.newaxis, :length])}
        output[:length] = tf.cast(model(inputs, training=False)[key][0], tf.float32)
    if key == "outputs":
        return {"outputs/outputs": scores, "serving_default/outputs": scores}
    real = np.arange(feats.shape[1]) < np.array(_LENGTHS)[:, np.newaxis]
    real = real[..., np.newaxis]
    posteriors = np.exp(scores - scores.max(axis=-1, keepdims=True))
    posteriors /= posteriors.sum(axis=-1, keepdims=True)
    logs = np.log(posteriors + 1e-20)
    result = {"posteriors": posteriors, "log_posteriors": logs}
    if log_priors is not None:
        result["log_likelihoods"] = logs - np.asarray(log_priors, np.float64)
    result = {name: np.where(real, values, 0) for name, values in result.items()}
    *_, last = result.values()
    named = {f"{name}/{name}": values for name, values in result.items()}
    return {**named, "serving_default/outputs": last}


def _difference(
    name: str, found: NDArray, expected: NDArray, tolerance: float
) -> float:
    if found.dtype != np.float32 or found.shape != expected.shape:
        raise InputError(
            f"the SavedModel's {name} are {found.dtype} of shape {found.shape}; "
            f"float32 of shape {expected.shape} is expected."
        )
    size = np.abs(expected)
    ordinary = size < _HUGE
    apart = np.abs(found - expected)
    limit = tolerance * np.maximum(size, size[ordinary].max(initial=0))
    bad = ~(apart <= limit)  # And not `>`: NaN is a difference.
    if bad.any():
        where = tuple(int(i) for i in np.argwhere(bad)[0])
        raise InputError(
            f"the SavedModel's {name} differ from the model's: utterance, frame and "
            f"class {where} is {found[where]:g}, not {expected[where]:g}."
        )
    largest = float(apart[ordinary].max(initial=0))
    _LOG.info("%s: as in the model, within %.2g", name, largest)
    return largest
