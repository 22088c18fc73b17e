"""The options of nnet1's training tools, and where this program goes further."""

import dataclasses


@dataclasses.dataclass(frozen=True, kw_only=True)
class FrameTrainOptions:
    """All that a tool is told but its data."""

    train_tool: str = "nnet-train-frmshuff"
    """Which of `train_tools.TOOLS` it is."""

    objective: str = "xent"
    """`xent`, `mse` or `multitask,LOSS,DIM,WEIGHT,...`."""

    momentum: float = 0.0
    """In [0, 1); not compensated."""

    l1_penalty: float = 0.0
    """On weights, not biases, per frame and unit of learning rate."""

    l2_penalty: float = 0.0
    """The same."""

    minibatch_size: int = 256
    """Frames; of nnet-train-frmshuff."""

    num_streams: int = 4
    """Utterances side by side; of the multistream tools."""

    batch_size: int = 20
    """Frames of each in a minibatch; of nnet-train-multistream."""

    max_frames: int = 8000
    """Frames in a minibatch, with padding; of nnet-train-multistream-perutt."""

    randomize: bool = True
    """Whether the frames of the buffer are shuffled; its utterances in the tools for
    sequences."""

    randomizer_seed: int = 777
    """Of the shuffles."""

    loss_report_frames: int = 1_800_000
    """Frames between two entries of the progress vector (5 hours)."""

    kaldi_tail: bool = False
    """Leave out the end of a set where nnet1 does: frames that fill no minibatch, what
    is left when a stream lacks an utterance, the last utterance of the buckets."""

    dropout_schedule: str = ""
    """Dropout rates of the first epochs, `0.5,0.5,0.2`; the last one stays."""

    kaldi_gradients: bool = False
    """Train with nnet1's gradients where they are not the true ones."""

    bfloat16: bool = False
    """Compute in bfloat16, with float32 weights."""

    binary: bool = True
    """Write networks in binary; text otherwise."""

    statistics: bool = False
    """Log statistics of each layer at the start and end of an epoch."""

    profile: bool = False
    """Write a TensorFlow profile of some calls of the first epoch."""

    progress_bar: bool = False
    """Show one on standard error."""
