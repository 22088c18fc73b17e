"""Training frames per second of a projected LSTM, 40-(800, 512)x2-3370, beside PyTorch.

Minibatches are 20 frames of each of 4 or 12 streams, whose states are carried on, with
momentum 0.9, on one thread, in memory. Ours is the training step with all that nnet1
does: peepholes, clipping, loss and accuracy by class. PyTorch's LSTM of such a shape
has neither peepholes nor limits. Both take turns of about a second. Kaldi's rates are
nnet1's on such a machine, with a BLAS that fits it.
"""

import sys

import alternate
import rivals

KALDI = {4: 488, 12: 702}  # Training frames per CPU-second, by streams.
PDFS = 3370
CELLS, UNITS = 800, 512
TIME = 20
MOMENTUM = 0.9


def main() -> None:
    options = alternate.options(__doc__)
    rounds = 3 if options.quick else max(options.rounds, 12)
    report = alternate.Report("train_lstm", options)
    for streams in KALDI:
        for kind in ("float32", "bfloat16"):
            names = {"seqzoo": "ours", "PyTorch": "torch"}
            rivals.compare(
                report,
                f"{streams} streams, {kind}, 1 thread",
                {
                    name: rivals.Rival(__file__, word, streams, kind)
                    for name, word in names.items()
                },
                rounds,
                {"Kaldi nnet1, recorded": KALDI[streams]},
            )


def ours(streams: int, bfloat16: bool) -> None:
    import numpy as np
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    from seqzoo import layers
    from seqzoo.zoo.checkpoints import keras_layers, nnet_proto
    from seqzoo.zoo.training.frame_trainer import use_bfloat16
    from seqzoo.zoo.training.sequence_data import Batching
    from seqzoo.zoo.training.sequence_trainer import SequenceTrainer

    lstm = f"<OutputDim> {UNITS} <CellDim> {CELLS}"
    proto = (
        f"<LstmProjected> <InputDim> 40 {lstm}\n"
        f"<LstmProjected> <InputDim> {UNITS} {lstm}\n"
        f"<AffineTransform> <InputDim> {UNITS} <OutputDim> {PDFS} <BiasMean> 0 "
        "<BiasRange> 0\n"
        f"<Softmax> <InputDim> {PDFS} <OutputDim> {PDFS}\n"
    )
    net = keras_layers.to_layers(nnet_proto.initialize(proto))
    if bfloat16:
        use_bfloat16(net)
    minibatches = _minibatches(streams)
    frames = minibatches * streams * TIME
    random = np.random.default_rng(0)
    # Streams of one long utterance each.
    starts = np.arange(0, frames, minibatches * TIME) + np.arange(
        0, minibatches * TIME, TIME
    ).reshape(-1, 1)
    rows = {
        "inputs": tf.constant(random.normal(size=(frames, 40)), tf.float32),
        "ids": tf.constant(random.integers(0, PDFS, (frames, 1)), tf.int32),
        "values": tf.ones([frames, 1]),
        "weights": tf.ones([frames]),
        "starts": tf.constant(starts, tf.int32),
        "lengths": tf.fill([minibatches, streams], TIME),
        "fresh": tf.zeros([minibatches, streams], tf.bool),
        "streams": tf.fill([minibatches], streams),
        "times": tf.fill([minibatches], TIME),
    }
    trainer = SequenceTrainer(
        net,
        "xent",
        layers.KaldiSGD(1e-5, MOMENTUM),
        Batching(kind="multistream", num_streams=streams, batch_size=TIME),
    )

    def step() -> int:
        trainer.train([rows])
        return frames

    rivals.serve(step)


def torch_peer(streams: int, bfloat16: bool) -> None:
    import torch

    torch.set_num_threads(1)
    torch.set_num_interop_threads(1)
    lstm = torch.nn.LSTM(40, CELLS, num_layers=2, proj_size=UNITS)
    output = torch.nn.Linear(UNITS, PDFS)
    minibatches = _minibatches(streams)
    inputs = torch.randn(minibatches, TIME, streams, 40)
    labels = torch.randint(0, PDFS, (minibatches, TIME * streams))
    optimizer = torch.optim.SGD(
        [*lstm.parameters(), *output.parameters()],
        lr=1e-5,
        momentum=MOMENTUM,
        fused=True,
    )
    state = (torch.zeros(2, streams, UNITS), torch.zeros(2, streams, CELLS))

    def step() -> int:
        nonlocal state
        for some, wanted in zip(inputs, labels, strict=True):
            with torch.autocast("cpu", torch.bfloat16, enabled=bfloat16):
                made, state = lstm(some, state)
                logits = output(made.reshape(-1, UNITS))
            loss = torch.nn.functional.cross_entropy(
                logits.float(), wanted, reduction="sum"
            )
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            state = tuple(part.detach() for part in state)
        return labels.numel()

    rivals.serve(step)


def _minibatches(streams: int) -> int:
    """About a second of training."""
    return 48 // streams


if __name__ == "__main__":
    if sys.argv[1:2] in (["ours"], ["torch"]):
        peer = {"ours": ours, "torch": torch_peer}[sys.argv[1]]
        peer(int(sys.argv[2]), sys.argv[3] == "bfloat16")
    else:
        main()
