"""SavedModels of language models, with the vocabulary in them."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import tensorflow as tf

from seqzoo.datasets.errors import InputError
from seqzoo.export import language_check, version_folder
from seqzoo.export.language_signatures import (
    DEFAULT,
    STEP,
    LanguageModel,
    LanguageSignatures,
)
from seqzoo.export.served_vocabulary import ServedVocabulary

VOCABULARY = f"{version_folder.EXTRA}/vocabulary.txt"
"""The words of a model of words: that of id `i` is line `i`."""


def export(
    model: LanguageModel,
    words: Sequence[str],
    directory: str,
    *,
    characters: bool = False,
    version: int | None = None,
    check: bool = False,
    notes: Mapping[str, Any] | None = None,
) -> str:
    """Writes `directory/<version>/`, where TF Serving finds it.

    `docs/serving.md` tells the signatures: `score`, which is also `serving_default`,
    `score_text`, `next_word`, `next_word_text`, `step` and `step_log_probs`. All
    compute in float32 and need nothing but TensorFlow.

    Args:
        model: with its weights. It is left as it is.
        words: of its vocabulary; that of id `i` is `words[i - 1]`.
        directory: the folder of all versions, local or remote; made if need be.
        characters: `words` are characters, and a text of them has no marks in front
            and behind.
        version: at least 0; None takes the next after the highest there.
        check: run it in a fresh process first, as `language_check.check` does; where
            it differs from the model, nothing is written.
        notes: more for the page that `version_folder.description` reads; plain values.

    Returns:
        The folder of the version. It appears only when all is written.

    Raises:
        InputError: if the words do not fit the model, the version is there, or the
            folder cannot be written.
    """
    if len(words) != model.words:
        raise InputError(
            f"the model has {model.words} words and its vocabulary {len(words)}."
        )

    def fill(folder: str) -> None:
        vocabulary = ServedVocabulary(words, characters)
        with _in_float32(model):
            made = LanguageSignatures(model, vocabulary)
            functions = made.functions()
            served = _Served(vocabulary, functions)
            tf.saved_model.save(served, folder, functions)
            page = _description(made, vocabulary, functions, words)
            version_folder.write_description(folder, page | dict(notes or {}))
            if not characters:
                _write_words(folder, words)
            if check:
                language_check.check(folder, model, words, characters)

    return version_folder.write(directory, version, fill)


class _Served(tf.Module):
    """All that is saved beside the signatures: the variables that they read."""

    def __init__(self, vocabulary: ServedVocabulary, functions: Mapping[str, Any]):
        super().__init__()
        self.vocabulary = vocabulary
        found = {
            id(variable): variable
            for function in functions.values()
            for variable in function.graph.variables
        }
        self.weights = list(found.values())


@contextlib.contextmanager
def _in_float32(model: Any) -> Iterator[None]:
    """Lets a model compute in float32; its tables are too large for a copy of it."""
    layers = [
        (layer, layer.dtype_policy)
        for layer in model._flatten_layers()
        if layer.compute_dtype != "float32"
    ]
    shadows = [
        (weight, weight.shadow)
        for weight in model.weights
        if getattr(weight, "shadow", None) is not None
    ]
    try:
        for layer, _ in layers:
            layer.dtype_policy = "float32"
        for weight, _ in shadows:
            weight.shadow = None
        yield
    finally:
        for layer, policy in layers:
            layer.dtype_policy = policy
        for weight, shadow in shadows:
            weight.shadow = shadow


def _description(
    made: LanguageSignatures,
    vocabulary: ServedVocabulary,
    functions: Mapping[str, Any],
    words: Sequence[str],
) -> dict[str, Any]:
    """A page for whoever finds the model: names, types and ids."""
    outputs = {name: made.structured_outputs for name, made in functions.items()}
    page: dict[str, Any] = {
        "words": len(vocabulary),
        "tokens": "characters" if vocabulary.characters else "words",
        "inputs": {name: _types(specs) for name, specs in made.inputs().items()},
        "outputs": {name: _types(tensors) for name, tensors in outputs.items()},
        "serving_default": DEFAULT,
        STEP: {
            "state": {
                name: [spec.dtype.name, *spec.shape[1:]]
                for name, spec in made.state().items()
            }
        },
    }
    if vocabulary.characters:
        page["characters"] = list(words)
    else:
        page["ids"] = {
            "unknown": vocabulary.unknown,
            "start": vocabulary.start,
            "end": vocabulary.end,
        }
    return page


def _types(tensors: Mapping[str, Any]) -> dict[str, str]:
    return {name: tensor.dtype.name for name, tensor in sorted(tensors.items())}


def _write_words(folder: str, words: Sequence[str]) -> None:
    with tf.io.gfile.GFile(f"{folder}/{VOCABULARY}", "wb") as stream:
        for word in words:
            raw = word.encode("utf-8", "surrogateescape")
            stream.write(raw.replace(b"\n", b" ") + b"\n")  # A line is a word.
