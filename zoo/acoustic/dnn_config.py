"""The configuration of `acoustic/dnn`."""

import dataclasses
from typing import Any

from seqzoo.zoo.checkpoints import make_proto


@dataclasses.dataclass(frozen=True, kw_only=True)
class DnnConfig:
    """A DNN of frames into pdfs; defaults follow Kaldi's doc/dnn1.dox.

    440 inputs (11 frames of 40 numbers), 6 hidden layers of 2048 sigmoids, a
    softmax over 3370 pdfs; initial weights by the rules of make_nnet_proto.py.
    """

    feature_dim: int = 40
    """Numbers in a frame of features (fMLLR: 40)."""

    offsets: tuple[int, ...] = tuple(range(-5, 6))
    """Frames of context, relative to the current one."""

    hidden_layers: int = 6
    """Hidden layers."""

    hidden_dim: int = 2048
    """Units in each."""

    pdfs: int = 3370
    """Width of the output: tied triphone states, or numbers to predict."""

    activation: str = "sigmoid"
    """After each hidden layer: `sigmoid` or `tanh`."""

    softmax: bool = True
    """Whether a softmax ends the network; False for mean-square-error training."""

    hid_bias_mean: float = -2.0
    """Centre of the uniform distribution of hidden biases."""

    hid_bias_range: float = 4.0
    """Width of that distribution."""

    param_stddev_factor: float = 0.1
    """Scales the standard deviation of all initial weights."""

    dropout_rate: float = 0.0
    """Share of the units of each hidden layer set to 0 in training."""

    max_norm: float = 0.0
    """Limit on the norm of the weights into a hidden unit; 0 is none."""

    proto_opts: str = ""
    """More options of make_nnet_proto.py, as one string; they win."""

    seed: int = 777
    """Of the initial weights."""

    kaldi_draws: bool = False
    """Draw the initial weights number by number as nnet-initialize does, to the bit;
    slow for large networks."""

    @property
    def rng(self) -> str:
        """What `nnet_proto.initialize` draws with."""
        return "kaldi" if self.kaldi_draws else "numpy"

    def proto_options(self) -> dict[str, Any]:
        """What `make_nnet_proto` is told besides dimensions."""
        options = {
            "activation_type": f"<{self.activation.capitalize()}>",
            "softmax": self.softmax,
            "hid_bias_mean": self.hid_bias_mean,
            "hid_bias_range": self.hid_bias_range,
            "param_stddev_factor": self.param_stddev_factor,
            "max_norm": self.max_norm,
            "with_dropout": self.dropout_rate > 0,
            "dropout_opts": f"<DropoutRate>_{self.dropout_rate:g}",
        }
        if not self.dropout_rate:
            del options["dropout_opts"]
        return {**options, **make_proto.parse_proto_opts(self.proto_opts)}

    def proto(self, input_dim: int | None = None) -> str:
        """The prototype of the network behind the feature transform.

        Args:
            input_dim: what the transform puts out; None is the spliced frames.
        """
        return make_proto.make_nnet_proto(
            input_dim or self.feature_dim * len(self.offsets),
            self.pdfs,
            self.hidden_layers,
            self.hidden_dim,
            **self.proto_options(),
        )
