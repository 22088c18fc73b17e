"""What the recipe of `acoustic/dbn` is told."""

import dataclasses

from seqzoo.zoo.acoustic.dnn_options import SetSource


@dataclasses.dataclass(frozen=True, kw_only=True)
class DbnRecipe:
    """All that steps/nnet/pretrain_dbn.sh is told."""

    train: SetSource | str
    """Features; a string is a data directory. No labels."""

    cmvn_opts: str | None = None
    """apply-cmvn's options; None leaves features as they are."""

    delta_opts: str | None = None
    """add-deltas' options; None adds none."""

    feat_type: str = "plain"
    """`plain`, `traps` or `transf`."""

    feature_transform: str | None = None
    """nnet1 file to use instead of making one."""

    traps_dct_basis: int = 11
    """Cosines for each feature dimension."""

    transf: str | None = None
    """Matrix file to import."""

    splice_after_transf: int = 5
    """Frames of context after it."""

    feats_std: float = 1.0
    """Standard deviation of the first RBM's inputs."""

    rbm_iter: int = 1
    """Passes over the data for each RBM; twice as many for one of Gaussian inputs."""

    hours: float | None = None
    """Size of the data; `rbm_iter` is then for 100 hours, and smaller sets get more
    passes, by `100 / hours`. None leaves it as it is."""

    rbm_lrate: float = 0.4
    """Learning rate of RBMs of binary inputs."""

    rbm_lrate_low: float = 0.01
    """Learning rate of one of Gaussian inputs."""

    max_frames: int = 6000
    """Longer utterances are left out."""

    randomizer_size: int = 32_768
    """Frames in the buffer that is shuffled."""

    randomizer_seed: int = 777
    """Of the shuffles and the hidden states."""

    shuffle_seed: int = 777
    """Of the order of the utterances."""

    copy_feats: bool = True
    """Read a shuffled local copy of the features in every pass."""

    copy_feats_tmproot: str | None = None
    """Directory for the copy; None is the run folder."""

    copy_feats_compress: bool | None = None
    """Whether the copy holds 8 bits a value; None does where a data directory is given,
    and not where a table is."""

    allow_pipes: bool = False
    """Whether entries of scp files may be commands."""

    binary: bool = True
    """Write networks in binary; text otherwise."""

    def passes(self, visible_type: str) -> int:
        """Over the data, for an RBM of such inputs; at least 1."""
        scale = 1.0 if self.hours is None else 100 / self.hours
        twice = 2 if visible_type == "gauss" else 1
        return max(1, round(self.rbm_iter * scale)) * twice

    def learn_rate(self, visible_type: str) -> float:
        """Of an RBM of such inputs."""
        return self.rbm_lrate_low if visible_type == "gauss" else self.rbm_lrate
