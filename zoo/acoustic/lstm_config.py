"""The configuration of `acoustic/lstm`."""

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar

from seqzoo.zoo.checkpoints import make_lstm_proto, proto_options


@dataclasses.dataclass(frozen=True, kw_only=True)
class LstmConfig:
    """Projected LSTMs of frames into pdfs; defaults follow Kaldi's egs/rm recipe.

    2 layers of 640 cells, projected to 400; targets are delayed by 5 frames, so that
    the network sees as many to come. Initial weights as make_lstm_proto.py has them.
    """

    training: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "nnet-train-multistream": {
            "learn_rate": 1e-4,
            "momentum": 0.9,
            "num_streams": 10,
            "batch_size": 20,
        },
        "nnet-train-multistream-perutt": {
            "learn_rate": 4e-5,
            "momentum": 0.9,
            "num_streams": 10,
            "max_frames": 15_000,
        },
        "nnet-train-perutt": {"learn_rate": 4e-5, "momentum": 0.9},
    }
    """The recipe's settings of each tool; the first is the one to train with."""

    feature_dim: int = 40
    """Numbers in a frame of features."""

    offsets: tuple[int, ...] = (5,)
    """Frames that the network sees at a time, relative to the one of the target; `5`
    delays the targets by 5 frames."""

    cell_dim: int = 640
    """Cells of each layer."""

    proj_dim: int = 400
    """Units that they are projected to."""

    num_layers: int = 2
    """LSTMs."""

    pdfs: int = 3370
    """Width of the output: tied triphone states."""

    lstm_param_range: float | None = None
    """Initial weights of the LSTMs are within plus and minus this; none is 0.1."""

    param_stddev: float | None = None
    """Standard deviation of the last layer's initial weights; none is 0.1."""

    cell_clip: float | None = None
    """Largest absolute value of a cell; none is 50, 0 no limit."""

    diff_clip: float | None = None
    """The same of the derivatives to the gates, frame by frame; none is 1."""

    cell_diff_clip: float | None = None
    """The same of the derivatives to the cells; none is no limit."""

    grad_clip: float | None = None
    """The same of the gradients of the weights; none is 250."""

    proto_opts: str = ""
    """More options of make_lstm_proto.py, as one string; they win."""

    seed: int = 777
    """Of the initial weights."""

    kaldi_draws: bool = False
    """Draw the initial weights number by number as nnet-initialize does, to the bit."""

    @property
    def rng(self) -> str:
        """What `nnet_proto.initialize` draws with."""
        return "kaldi" if self.kaldi_draws else "numpy"

    def proto(self, input_dim: int | None = None) -> str:
        """The prototype of the network behind the feature transform.

        Args:
            input_dim: what the transform puts out; None is the spliced frames.
        """
        dim = input_dim or self.feature_dim * len(self.offsets)
        options = self._options(make_lstm_proto.LstmProtoOptions)
        return make_lstm_proto.make_lstm_proto(dim, self.pdfs, **options)

    def _options(self, script: type[proto_options.ScriptOptions]) -> dict[str, Any]:
        """A script's options: the settings of the same names, then `proto_opts`."""
        given = {name: getattr(self, name) for name in script.fields()}
        return {**given, **proto_options.parse(self.proto_opts, script)}
