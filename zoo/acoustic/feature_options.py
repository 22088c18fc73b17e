"""What recipes are told of features: where they are, and what is made of them."""

import dataclasses


@dataclasses.dataclass(frozen=True, kw_only=True)
class SetSource:
    """Where one set's features come from."""

    feats: str
    """rspecifier."""

    cmvn: str | None = None
    """rspecifier of statistics by speaker."""

    utt2spk: str | None = None
    """rspecifier."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class FeatureOptions:
    """What training a network and pre-training one have in common."""

    train: SetSource | str
    """Training features; a string is a data directory."""

    cmvn_opts: str | None = None
    """apply-cmvn's options; None leaves features as they are."""

    delta_opts: str | None = None
    """add-deltas' options; None adds none."""

    feat_type: str = "plain"
    """`plain`, `traps`, `transf` or `lda`."""

    feature_transform: str | None = None
    """nnet1 file to use instead of making one."""

    traps_dct_basis: int = 11
    """Cosines for each feature dimension."""

    transf: str | None = None
    """Matrix file to import; None is final.mat of the alignment directory."""

    splice_after_transf: int = 5
    """Frames of context after it."""

    feats_std: float = 1.0
    """Standard deviation of the network's inputs."""

    randomizer_size: int = 32_768
    """Frames in the buffer that is shuffled."""

    shuffle_seed: int = 777
    """Of the order of the utterances."""

    copy_feats: bool = True
    """Read a shuffled local copy of the features in every pass."""

    copy_feats_tmproot: str | None = None
    """Directory for the copy; None is the run folder."""

    copy_feats_compress: bool | None = None
    """Whether the copy holds 8 bits a value, as train.sh makes it; None does where
    data directories are given, as to train.sh, and not where tables are: the tools
    that it calls do not compress."""

    allow_pipes: bool = False
    """Whether entries of scp files may be commands."""

    @property
    def compresses(self) -> bool:
        """Whether the copy holds 8 bits a value."""
        if self.copy_feats_compress is None:
            return isinstance(self.train, str)
        return self.copy_feats_compress
