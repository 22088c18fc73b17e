"""The training step of a CNN, ours and PyTorch's, in turns, in one thread.

Convolutions along frequency over 11 frames of 40 energies with deltas, and a DNN behind
them: `acoustic/cnn` as its settings are. Both stay in memory; rates are per CPU-second.
"""

import json
import os
import statistics
import subprocess
import sys
import time

import alternate

FRAMES = 1024
PDFS = 1500
RATE = 0.001


def main() -> None:
    options = alternate.options(__doc__)
    rounds = 3 if options.quick else max(options.rounds, 10)
    rivals = {name: _start(name) for name in ("ours", "torch")}
    taken: dict[str, list[float]] = {name: [] for name in rivals}
    for turn in range(rounds + 1):
        for name, rival in rivals.items():
            seconds = _ask(rival)
            if turn:  # The first warms up.
                taken[name].append(seconds)
    for rival in rivals.values():
        rival.communicate()
    ratios = [b / a for a, b in zip(taken["ours"], taken["torch"], strict=True)]
    rates = {name: FRAMES / statistics.median(times) for name, times in taken.items()}
    print(
        f"acoustic/cnn, {PDFS} pdfs, 1 thread, {rounds} rounds "
        f"on {alternate.machine()}: {rates['ours']:.0f} and "
        f"{rates['torch']:.0f} frames per CPU-second, "
        f"ours : PyTorch {alternate.spread(ratios)}"
    )
    alternate.RESULTS.mkdir(exist_ok=True)
    found = {"machine": alternate.machine(), "frames": FRAMES, "cpu_seconds": taken}
    path = alternate.RESULTS / "train_cnn.json"
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def _start(name: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, __file__, name],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
    )


def _ask(rival: subprocess.Popen[str]) -> float:
    assert rival.stdin and rival.stdout
    rival.stdin.write("go\n")
    rival.stdin.flush()
    return float(rival.stdout.readline())


def _serve(step) -> None:
    for _ in sys.stdin:
        begun = time.process_time()
        step()
        print(time.process_time() - begun, flush=True)


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
    _serve(lambda: trainer.train([rows]))


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

    def step() -> None:
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

    _serve(step)


if __name__ == "__main__":
    if sys.argv[1:2] in (["ours"], ["torch"]):
        {"ours": _ours, "torch": _torch}[sys.argv[1]]()
    else:
        main()
