"""The configuration of `acoustic/cnn`."""

import dataclasses
from typing import Any

from seqzoo.zoo.acoustic.acoustic_config import context
from seqzoo.zoo.acoustic.dnn_config import DnnConfig
from seqzoo.zoo.checkpoints import make_cnn_proto, make_proto, proto_options


@dataclasses.dataclass(frozen=True, kw_only=True)
class CnnConfig(DnnConfig):
    """Convolutions along frequency in front of a DNN; defaults of Kaldi's CNN1D.

    11 frames of 40 log-mel energies with their deltas. 128 filters over 8 of the 40
    frequencies, a maximum over 3 neighbours, 256 filters over 4 of those; then the
    hidden layers of `DnnConfig`.
    """

    feature_dim: int = 120
    """Numbers in a frame of features, with deltas and pitch."""

    delta_order: int = 2
    """Order of the deltas in the features: of delta_opts, where those are given."""

    hidden_layers: int = 4
    """Hidden layers behind the convolutions."""

    hidden_dim: int = 1024
    """Units in each."""

    num_filters1: int = 128
    """Filters of the first convolution."""

    num_filters2: int = 256
    """Filters of the second."""

    pool_size: int = 3
    """Patches of a pool, between the two."""

    pool_step: int = 3
    """Patches from one pool to the next."""

    pool_type: str = "Max"
    """`Max` or `Average`."""

    pitch_dim: int = 0
    """Numbers of pitch at the end of each frame; those go around the convolutions."""

    cnn_proto_opts: str = ""
    """More options of make_cnn_proto.py, as one string; they win."""

    def cnn_options(self) -> dict[str, Any]:
        """What `make_cnn_proto` is told besides the features' dimension."""
        names = "delta_order num_filters1 num_filters2 pool_size pool_step pool_type"
        given = {name: getattr(self, name) for name in [*names.split(), "pitch_dim"]}
        given["splice"] = context(
            self.offsets, "convolutions take symmetric ones without gaps."
        )
        given["activation_type"] = f"<{self.activation.capitalize()}>"
        script = make_cnn_proto.CnnProtoOptions
        return {**given, **proto_options.parse(self.cnn_proto_opts, script)}

    def proto(self, input_dim: int | None = None) -> str:
        """The prototype of the network behind the feature transform.

        Args:
            input_dim: what the transform puts out; None is the spliced frames.
        """
        dim = input_dim or self.feature_dim * len(self.offsets)
        front = make_cnn_proto.make_cnn_proto(dim, **self.cnn_options())
        words = front.split()
        widths = [words[i + 1] for i, word in enumerate(words) if word == "<OutputDim>"]
        options = {**self.proto_options(), "smaller_input_weights": False}
        return front + make_proto.make_nnet_proto(
            int(widths[-1]), self.pdfs, self.hidden_layers, self.hidden_dim, **options
        )

    def pitch_protos(self, input_dim: int | None = None) -> dict[str, str]:
        """The prototypes, by file name, that the one for features with pitch names."""
        dim = input_dim or self.feature_dim * len(self.offsets)
        return make_cnn_proto.make_pitch_protos(dim, **self.cnn_options())
