"""The training step alone, ours and PyTorch's, in turns of a second or two.

Both stay in memory, so that a machine whose speed changes from minute to minute treats
them alike; `train_dnn` measures the whole command.
"""

import os
import statistics
import subprocess
import sys
import time

import alternate

SHAPE = "440-6x2048-3370"
FRAMES = 2048


def main() -> None:
    options = alternate.options(__doc__)
    rounds = 3 if options.quick else max(options.rounds, 12)
    for threads in (1, 2):
        for kind in ("float32", "bfloat16"):
            rivals = {n: _start(n, threads, kind) for n in ("ours", "torch")}
            taken: dict[str, list[float]] = {name: [] for name in rivals}
            for turn in range(rounds + 1):
                for name, rival in rivals.items():
                    seconds = _ask(rival)
                    if turn:  # The first warms up.
                        taken[name].append(seconds)
            for rival in rivals.values():
                rival.communicate()
            ratios = [
                theirs / ours
                for ours, theirs in zip(taken["ours"], taken["torch"], strict=True)
            ]
            rates = {
                name: FRAMES / statistics.median(times) for name, times in taken.items()
            }
            ours, theirs = (rates[name] for name in ("ours", "torch"))
            middle, least, most = statistics.median(ratios), min(ratios), max(ratios)
            print(
                f"{SHAPE}, {kind}, {threads} threads, {rounds} rounds: {ours:.0f} and "
                f"{theirs:.0f} frames/s, ours : PyTorch {middle:.2f} "
                f"({least:.2f}-{most:.2f})",
                flush=True,
            )


def _start(name: str, threads: int, kind: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, __file__, name, str(threads), kind],
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
        begun = time.perf_counter()
        step()
        print(time.perf_counter() - begun, flush=True)


def _ours(threads: int, bfloat16: bool) -> None:
    import numpy as np
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(threads)
    tf.config.threading.set_inter_op_parallelism_threads(threads)
    from seqzoo import layers
    from seqzoo.zoo.acoustic.dnn_config import DnnConfig
    from seqzoo.zoo.checkpoints import keras_layers, nnet_proto
    from seqzoo.zoo.training.frame_trainer import FrameTrainer, use_bfloat16

    config = DnnConfig()
    net = keras_layers.to_layers(nnet_proto.initialize(config.proto()))
    if bfloat16:
        use_bfloat16(net)
    rng = np.random.default_rng(0)
    labels = rng.integers(0, config.pdfs, (FRAMES, 1))
    rows = {
        "inputs": tf.constant(rng.normal(size=(FRAMES, 440)), tf.float32),
        "ids": tf.constant(labels, tf.int32),
        "values": tf.ones([FRAMES, 1]),
        "weights": tf.ones([FRAMES]),
    }
    trainer = FrameTrainer(net, "xent", layers.KaldiSGD(0.008))
    _serve(lambda: trainer.train([rows]))


def _torch(threads: int, bfloat16: bool) -> None:
    import torch
    import torch_dnn

    torch.set_num_threads(threads)
    net = torch_dnn.build(SHAPE)
    inputs = torch.randn(FRAMES, 440)
    labels = torch.randint(0, 3370, (FRAMES,))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.008 / 256, fused=True)

    def step() -> None:
        for some in torch.randperm(FRAMES).split(256):
            with torch.autocast("cpu", torch.bfloat16, enabled=bfloat16):
                loss = torch.nn.functional.cross_entropy(
                    net(inputs[some]), labels[some], reduction="sum"
                )
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()

    _serve(step)


if __name__ == "__main__":
    if sys.argv[1:2] in (["ours"], ["torch"]):
        serve = {"ours": _ours, "torch": _torch}[sys.argv[1]]
        serve(int(sys.argv[2]), sys.argv[3] == "bfloat16")
    else:
        main()
