"""The training step of a CNN, ours and PyTorch's, in turns, in one thread.

Convolutions along frequency over 11 frames of 40 energies with deltas, and a DNN behind
them: `acoustic/cnn` as its settings are. Both stay in memory; rates are per CPU-second.
"""

import sys

import alternate
import rivals

FRAMES = 1024
PDFS = 1500
RATE = 0.001


def main() -> None:
    options = alternate.options(__doc__)
    rounds = 3 if options.quick else max(options.rounds, 10)
    names = {"seqzoo": "ours", "PyTorch": "torch"}
    rivals.compare(
        alternate.Report("train_cnn", options),
        f"acoustic/cnn, {PDFS} pdfs, 1 thread",
        {name: rivals.Rival(__file__, word) for name, word in names.items()},
        rounds,
    )


def _ours() -> None:
    import numpy as np
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    from seqzoo import layers
    from seqzoo.zoo.acoustic.cnn_config import CnnConfig
    from seqzoo.zoo.checkpoints import keras_layers, nnet_proto
    from seqzoo.zoo.training.frame_trainer import FrameTrainer

    config = CnnConfig(pdfs=PDFS)
    net = keras_layers.to_layers(nnet_proto.initialize(config.proto()))
    rng = np.random.default_rng(0)
    rows = {
        "inputs": tf.constant(rng.normal(size=(FRAMES, 1320)), tf.float32),
        "ids": tf.constant(rng.integers(0, PDFS, (FRAMES, 1)), tf.int32),
        "values": tf.ones([FRAMES, 1]),
        "weights": tf.ones([FRAMES]),
    }
    trainer = FrameTrainer(net, "xent", layers.KaldiSGD(RATE))
    rivals.serve(lambda: trainer.train([rows]).frames)


def _torch() -> None:
    import torch
    from torch import nn

    torch.set_num_threads(1)

    class Scale(nn.Module):
        """A scale and a shift of every number, as `<Rescale>` and `<AddShift>`."""

        def __init__(self, dim: int):
            super().__init__()
            self.scale = nn.Parameter(torch.ones(dim))
            self.shift = nn.Parameter(torch.zeros(dim))

        def forward(self, x):
            return x * self.scale + self.shift

    # 33 spliced frames as channels; what is pooled stays channel by channel, so that
    # nothing is turned round.
    body: list[nn.Module] = [
        nn.Unflatten(1, (33, 40)),
        nn.Conv1d(33, 128, 8),
        nn.MaxPool1d(3),
        nn.Flatten(),
        Scale(1408),
        nn.Sigmoid(),
        nn.Unflatten(1, (128, 11)),
        nn.Conv1d(128, 256, 4),
        nn.Flatten(),
        Scale(2048),
        nn.Sigmoid(),
    ]
    for width in (2048, 1024, 1024, 1024):
        body += [nn.Linear(width, 1024), nn.Sigmoid()]
    net = nn.Sequential(*body, nn.Linear(1024, PDFS))
    inputs = torch.randn(FRAMES, 1320)
    labels = torch.randint(0, PDFS, (FRAMES,))
    optimizer = torch.optim.SGD(net.parameters(), lr=RATE, fused=True)
    filters = ((body[1], 30), (body[7], 50))

    def step() -> int:
        for some in torch.randperm(FRAMES).split(256):
            loss = nn.functional.cross_entropy(
                net(inputs[some]), labels[some], reduction="sum"
            )
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            with torch.no_grad():
                for layer, norm in filters:
                    layer.weight.renorm_(2, 0, norm)
        return FRAMES

    rivals.serve(step)


if __name__ == "__main__":
    if sys.argv[1:2] in (["ours"], ["torch"]):
        {"ours": _ours, "torch": _torch}[sys.argv[1]]()
    else:
        main()
