"""The configuration of `acoustic/autoencoder`."""

import dataclasses

from seqzoo.zoo.acoustic.dnn_config import DnnConfig


@dataclasses.dataclass(frozen=True, kw_only=True)
class AutoencoderConfig(DnnConfig):
    """A network that gives its features back; defaults of Kaldi's run_autoencoder.sh.

    Spliced frames in, the middle frame out, two hidden layers of 200 tanh units.
    Targets may also be given, such as clean features for noisy ones.
    """

    hidden_layers: int = 2
    """Hidden layers."""

    hidden_dim: int = 200
    """Units in each."""

    pdfs: int = 40
    """Numbers to predict; by default as many as a frame of features has."""

    activation: str = "tanh"
    """After each hidden layer: `sigmoid` or `tanh`."""

    softmax: bool = False
    """Whether a softmax ends the network."""

    hid_bias_mean: float = 0.0
    """Centre of the uniform distribution of hidden biases."""

    hid_bias_range: float = 1.0
    """Width of that distribution."""

    param_stddev_factor: float = 0.01
    """Scales the standard deviation of all initial weights."""

    @property
    def objective(self) -> str:
        """What it is trained with where nothing is said."""
        return "xent" if self.softmax else "mse"
