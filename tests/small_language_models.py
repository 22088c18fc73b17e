"""Small language models with random weights, and run folders of them."""

import contextlib
from collections.abc import Iterator

import keras
import numpy as np

from seqzoo.datasets.gbw_vocabulary import Vocabulary
from seqzoo.datasets.sentences import Sentences
from seqzoo.zoo import registry
from seqzoo.zoo.language import trained_model


def vocabulary(words: int) -> Vocabulary:
    """`a`, `b` and so on, then the three marks; `words` in all."""
    names = [chr(ord("a") + n) for n in range(words - 3)]
    return Vocabulary([*names, "<UNK>", "<S>", "</S>"], np.ones(words, np.int64))


def build(words: int, name: str = "language/lstm", scale: float = 1.0, **settings):
    """A model and its settings; weights are normal with deviation `scale`."""
    settings = {"hiddensize": (5, 4), "words": words, **settings}
    config = registry.config(name)
    config = type(config)(**settings)
    model = registry.build(name, config)
    rng = np.random.default_rng(0)
    for weight in model.trainable_weights:
        weight.assign(scale * rng.normal(size=weight.shape))
    return model, config


@contextlib.contextmanager
def float64() -> Iterator[None]:
    """Models made within compute in float64."""
    floatx, policy = keras.config.floatx(), keras.config.dtype_policy()
    try:
        keras.config.set_floatx("float64")
        keras.config.set_dtype_policy("float64")
        yield
    finally:
        keras.config.set_floatx(floatx)
        keras.config.set_dtype_policy(policy)


def write_run(path, words: int = 9, about=None, **settings):
    """A run folder; gives its model."""
    name = settings.pop("name", "language/lstm")
    model, config = build(words, name, **settings)
    more = {"tokens": "words", **(about or {})}
    trained_model.write(str(path), name, config, model, vocabulary(words), more)
    return model


def sentences(words: int, lengths, seed: int = 0) -> Sentences:
    """Random ones of so many ids, of any word."""
    rng = np.random.default_rng(seed)
    return Sentences.of([rng.integers(1, words + 1, n) for n in lengths])
