"""Shows that ours and PyTorch's language models learn the same, step by step.

From the same weights, words and noise, some updates of a small model: losses and all
weights agree to 1e-4, or it fails.
"""

import language_data
import numpy as np
import tensorflow as tf
import torch
import torch_language

from seqzoo import layers
from seqzoo.datasets.multi_sequence import MultiSequence
from seqzoo.zoo import registry
from seqzoo.zoo.language.lstm_config import LstmConfig
from seqzoo.zoo.language.trainer import LanguageTrainer, Sums

WORDS, DIM, K, COLUMNS, STEPS = 600, 24, 30, 8, 20
CUTOFF = 2.0  # Steps are longer, and cut.


def main() -> None:
    seen = language_data.counts(WORDS)
    peer = torch_language.Peer(
        seen, DIM, K, reset=True, rate=0.5, momentum=0.9, cutoff=CUTOFF
    )
    config = LstmConfig(words=WORDS, hiddensize=(DIM, DIM), k=K)
    model = registry.build("language/lstm", config)
    model.set_counts(seen)
    first, second = model.recurrent.layers
    pairs = [
        (model.embedding.embeddings, peer.vectors),
        (model.output_layer.linearity, peer.linearity),
        (model.output_layer.bias, peer.bias),
        *(
            (getattr(layer, ours), getattr(peer.lstm, f"{theirs}_l{number}"))
            for number, layer in enumerate((first, second))
            for ours, theirs in (
                ("w_ifco_x", "weight_ih"),
                ("w_ifco_h", "weight_hh"),
                ("bias", "bias_ih"),
            )
        ),
    ]
    for ours, theirs in pairs:
        ours.assign(theirs.detach().numpy())
    noise = tf.Variable(tf.zeros([STEPS, K], tf.int32))
    model.output_layer.draw = lambda shape: noise.value()
    trainer = LanguageTrainer(model, layers.RowSGD(0.5, 0.9, CUTOFF))
    streams = MultiSequence(language_data.sentences(seen, 20_000, 1), COLUMNS)
    state, theirs_state = trainer.zero_state(COLUMNS), peer.zero_state(COLUMNS)
    for step in range(4):
        chunk, sums = streams.sub(STEPS), Sums()
        drawn = peer.noise.draw(STEPS, K)
        noise.assign(drawn.numpy())
        state = trainer.train(
            tf.constant(chunk.inputs), tf.constant(chunk.targets), state, sums
        )
        words = (torch.from_numpy(x).long() for x in (chunk.inputs, chunk.targets))
        loss, theirs_state = peer.update(*words, theirs_state, drawn)
        print(f"step {step}: loss {sums.loss:.5f} ours, {loss:.5f} PyTorch's")
        np.testing.assert_allclose(sums.loss, loss, 1e-4)
        for ours, theirs in pairs:
            np.testing.assert_allclose(
                ours.numpy(),
                theirs.detach().numpy(),
                rtol=1e-4,
                atol=1e-5,
                err_msg=ours.path,
            )


if __name__ == "__main__":
    main()
