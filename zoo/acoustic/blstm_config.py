"""The configuration of `acoustic/blstm`."""

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar

from seqzoo.zoo.acoustic.lstm_config import LstmConfig
from seqzoo.zoo.checkpoints import make_lstm_proto


@dataclasses.dataclass(frozen=True, kw_only=True)
class BlstmConfig(LstmConfig):
    """LSTMs in both directions of frames into pdfs, as in Kaldi's egs/rm recipe.

    2 layers of 320 cells in each direction, projected to 200, the last to 320. It sees
    whole utterances, so targets need no delay and streaming is not possible.
    """

    training: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        name: LstmConfig.training[name]
        for name in ("nnet-train-multistream-perutt", "nnet-train-perutt")
    }
    """The recipe's settings of each tool; the first is the one to train with."""

    offsets: tuple[int, ...] = (0,)
    """Frames that the network sees at a time, relative to the one of the target."""

    cell_dim: int = 320
    """Cells of each layer in each direction."""

    proj_dim: int = 200
    """Units that they are projected to in each direction, but in the last layer."""

    proj_dim_last: int = 320
    """The same in the last layer."""

    proto_opts: str = ""
    """More options of make_blstm_proto.py, as one string; they win."""

    def proto(self, input_dim: int | None = None) -> str:
        """The prototype of the network behind the feature transform."""
        dim = input_dim or self.feature_dim * len(self.offsets)
        options = self._options(make_lstm_proto.BlstmProtoOptions)
        return make_lstm_proto.make_blstm_proto(dim, self.pdfs, **options)
