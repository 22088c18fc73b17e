"""Runs all signatures of a language model's SavedModel, with TensorFlow alone.

    python run_language_signatures.py SAVED_MODEL REQUEST.npz ANSWER.npz

REQUEST holds a batch of sentences as `words`, `lengths` and `text`, the same numbers
of ids as in each sentence in `lengths`; `n`; and `start`, what the first step takes
in front of a sentence, if it is not 0. ANSWER holds the outputs as `signature/output`;
of signatures that take a state, those of each step stacked in front of the batch.
"""

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow as tf

_IDS, _TEXT = ("words", "lengths"), ("text",)
_INPUTS = {
    "score": _IDS,
    "serving_default": _IDS,
    "score_text": _TEXT,
    "next_word": (*_IDS, "n"),
    "next_word_text": (*_TEXT, "n"),
}


def run(directory: str, request: str, answer: str) -> None:
    """Loads the model and writes what its signatures give."""
    loaded = tf.saved_model.load(directory)
    with np.load(request) as file:
        inputs = dict(file)
    outputs: dict[str, Any] = {}
    for name, signature in loaded.signatures.items():
        if name in _INPUTS:
            given = {key: tf.constant(inputs[key]) for key in _INPUTS[name]}
            made = signature(**given)
            outputs |= {f"{name}/{key}": _plain(v) for key, v in made.items()}
        else:
            made = _in_steps(signature, inputs)
            outputs |= {f"{name}/{key}": value for key, value in made.items()}
    with open(answer, "wb") as stream:
        np.savez(stream, **outputs)
    ours = sorted(name for name in sys.modules if name.split(".")[0] == "seqzoo")
    if ours:
        raise SystemExit(f"loading it imported {', '.join(ours)}.")


def _in_steps(step: Any, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The outputs of all steps: a row whose sentence has ended gets 0."""
    words, lengths, start = inputs["words"], inputs["lengths"], inputs["start"]
    real = np.arange(words.shape[1]) < lengths[:, np.newaxis]
    words = np.where(real, words, 0)
    if start:
        words = np.pad(words, [(0, 0), (1, 0)], constant_values=start)
    specs = step.structured_input_signature[1]
    state = {
        name: tf.zeros([len(words), *spec.shape[1:]], spec.dtype)
        for name, spec in specs.items()
        if name.startswith("state_")
    }
    more = {"n": tf.constant(inputs["n"])} if "n" in specs else {}
    found: dict[str, list[np.ndarray]] = {}
    for column in words.T:
        made = step(words=tf.constant(column), **more, **state)
        state = {name: made[name] for name in state}
        for name, value in made.items():
            found.setdefault(name, []).append(_plain(value))
    return {name: np.stack(values) for name, values in found.items()}


def _plain(value: tf.Tensor) -> np.ndarray:
    """Strings as arrays that need no pickle."""
    array = value.numpy()
    return array.astype(bytes) if array.dtype == object else array


if __name__ == "__main__":
    run(*sys.argv[1:])
