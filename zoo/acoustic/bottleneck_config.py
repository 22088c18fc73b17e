"""The configuration of `acoustic/bottleneck`."""

import dataclasses
from typing import Any

from seqzoo.zoo.acoustic.dnn_config import DnnConfig
from seqzoo.zoo.checkpoints import make_proto


@dataclasses.dataclass(frozen=True, kw_only=True)
class BottleneckConfig(DnnConfig):
    """A universal context network, of two; defaults of Kaldi's run_dnn_tandem_uc.sh.

    The first network sees 11 frames through 6 cosines a dimension and is trained to
    tell pdfs; what its narrow layer gives is spliced over 31 frames and goes into the
    second, trained likewise. The second one's narrow layer gives the bottleneck
    features.
    """

    hidden_layers: int = 2
    """Hidden layers before the narrow one, in each network; one more is behind it."""

    hidden_dim: int = 1500
    """Units in each."""

    first_bn_dim: int = 80
    """Width of the first network's narrow layer."""

    bn_dim: int = 30
    """Width of the second network's: numbers in a frame of bottleneck features."""

    stage_offsets: tuple[int, ...] = (-10, *range(-5, 6), 10)
    """Frames of the first network's narrow layer that the second sees."""

    feat_type: str = "traps"
    """Feature transform in front of the first network."""

    traps_dct_basis: int = 6
    """Cosines for each feature dimension in front of the first network."""

    def __post_init__(self) -> None:
        for name in ("first_bn_dim", "bn_dim"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}; 1 is the least.")

    def first(self) -> "BottleneckConfig":
        """The first network's configuration."""
        return dataclasses.replace(self, bn_dim=self.first_bn_dim)

    def proto_options(self) -> dict[str, Any]:
        """Also the narrow layer."""
        return {"bottleneck_dim": self.bn_dim, **super().proto_options()}

    def proto(self, input_dim: int | None = None) -> str:
        """The prototype of the second network; of `first()`, the first's.

        Args:
            input_dim: None is the second's, splices of the first's narrow layer.
        """
        return make_proto.make_nnet_proto(
            input_dim or self.first_bn_dim * len(self.stage_offsets),
            self.pdfs,
            self.hidden_layers,
            self.hidden_dim,
            **self.proto_options(),
        )
