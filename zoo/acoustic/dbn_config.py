"""The configuration of `acoustic/dbn`."""

import dataclasses
from typing import Literal


@dataclasses.dataclass(frozen=True, kw_only=True)
class DbnConfig:
    """A stack of RBMs on spliced frames; defaults follow pretrain_dbn.sh."""

    feature_dim: int = 40
    """Numbers in a frame of features (fMLLR: 40)."""

    offsets: tuple[int, ...] = tuple(range(-5, 6))
    """Frames of context, relative to the current one."""

    nn_depth: int = 6
    """RBMs, one on the other."""

    hid_dim: int = 2048
    """Hidden units in each."""

    input_vis_type: Literal["gauss", "bern"] = "gauss"
    """Visible units of the first: `gauss` for normalised features, `bern` for numbers
    in [0, 1]."""

    param_stddev_first: float = 0.1
    """Standard deviation of the first RBM's initial weights."""

    param_stddev: float = 0.1
    """The same for the others."""

    seed: int = 777
    """Of the initial weights."""

    kaldi_draws: bool = False
    """Draw the initial weights number by number as nnet-initialize does, to the bit;
    slow for large networks."""

    def __post_init__(self) -> None:
        for name in ("nn_depth", "hid_dim"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}; 1 is the least.")

    @property
    def rng(self) -> str:
        """What `nnet_proto.initialize` draws with."""
        return "kaldi" if self.kaldi_draws else "numpy"

    @property
    def types(self) -> list[tuple[str, str]]:
        """Visible and hidden units of each RBM: GB and then BB, by default."""
        visible = [self.input_vis_type, *["bern"] * (self.nn_depth - 1)]
        return [(kind, "bern") for kind in visible]

    def proto(self, number: int, input_dim: int, cmvn: str | None = None) -> str:
        """The prototype of one RBM.

        Args:
            number: which, from 1.
            input_dim: its visible units.
            cmvn: nnet1 file whose `<AddShift>` takes the means of its inputs away,
                which then set its visible biases.
        """
        visible, hidden = self.types[number - 1]
        stddev = self.param_stddev_first if number == 1 else self.param_stddev
        words = ["<Rbm>", "<InputDim>", input_dim, "<OutputDim>", self.hid_dim]
        words += ["<VisibleType>", visible, "<HiddenType>", hidden]
        words += ["<ParamStddev>", f"{stddev:g}"]
        if cmvn is not None:
            words += ["<VisibleBiasCmvnFilename>", cmvn]
        return " ".join(map(str, words)) + "\n"
