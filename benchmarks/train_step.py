"""The training step alone, ours and PyTorch's, in turns of a second or two.

Both stay in memory, so that a machine whose speed changes from minute to minute treats
them alike; `train_dnn` measures the whole command.
"""

import sys

import alternate
import rivals

SHAPE = "440-6x2048-3370"
FRAMES = 2048


def main() -> None:
    options = alternate.options(__doc__)
    rounds = 3 if options.quick else max(options.rounds, 12)
    report = alternate.Report("train_step", options)
    for threads in (1, 2):
        for kind in ("float32", "bfloat16"):
            names = {"seqzoo": "ours", "PyTorch": "torch"}
            rivals.compare(
                report,
                f"{SHAPE}, {kind}, {threads} thread{'s' if threads > 1 else ''}",
                {
                    name: rivals.Rival(__file__, word, threads, kind)
                    for name, word in names.items()
                },
                rounds,
            )


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
    rivals.serve(lambda: trainer.train([rows]).frames)


def _torch(threads: int, bfloat16: bool) -> None:
    import torch
    import torch_dnn

    torch.set_num_threads(threads)
    net = torch_dnn.build(SHAPE)
    inputs = torch.randn(FRAMES, 440)
    labels = torch.randint(0, 3370, (FRAMES,))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.008 / 256, fused=True)

    def step() -> int:
        for some in torch.randperm(FRAMES).split(256):
            with torch.autocast("cpu", torch.bfloat16, enabled=bfloat16):
                loss = torch.nn.functional.cross_entropy(
                    net(inputs[some]), labels[some], reduction="sum"
                )
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
        return FRAMES

    rivals.serve(step)


if __name__ == "__main__":
    if sys.argv[1:2] in (["ours"], ["torch"]):
        serve = {"ours": _ours, "torch": _torch}[sys.argv[1]]
        serve(int(sys.argv[2]), sys.argv[3] == "bfloat16")
    else:
        main()
