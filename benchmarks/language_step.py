"""Our training step of the billion-word model in a process that works in turns.

python benchmarks/language_step.py CACHE RULE MOMENTUM

A turn is four updates of 128 columns by 50 steps, from the cache to the tables; RULE is
that of the tables, and MOMENTUM that of the LSTMs. A unit is a time step of a column.
"""

import sys

import rivals
import tensorflow as tf

from seqzoo import layers
from seqzoo.datasets import gbw_cache
from seqzoo.datasets.multi_sequence import MultiSequence
from seqzoo.zoo import registry
from seqzoo.zoo.language.trainer import LanguageTrainer, Sums

COLUMNS, STEPS, UPDATES = 128, 50, 4


def main() -> None:
    path, rule, momentum = sys.argv[1:]
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    cache = gbw_cache.load(path)
    settings = [f"words={len(cache.vocabulary)}", "hiddensize=250,250", "k=400"]
    _, model = registry.make("language/lstm", settings)
    model.set_counts(cache.vocabulary.counts)
    optimizer = layers.RowSGD(0.05, float(momentum), 10, rule)
    trainer = LanguageTrainer(model, optimizer)
    streams = MultiSequence(cache.sets["train"], COLUMNS)
    state = trainer.zero_state(COLUMNS)
    sums = Sums()

    def turn() -> float:
        nonlocal state
        for _ in range(UPDATES):
            chunk = streams.sub(STEPS)
            inputs, targets = map(tf.constant, (chunk.inputs, chunk.targets))
            state = trainer.train(inputs, targets, state, sums)
        return UPDATES * STEPS * COLUMNS

    rivals.serve(turn)


if __name__ == "__main__":
    main()
