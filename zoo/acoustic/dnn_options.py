"""What the recipe of `acoustic/dnn` is told: data, feature transform, first weights."""

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
class DnnRecipe:
    """All that steps/nnet/train.sh is told."""

    train: SetSource | str
    """Training features; a string is a data directory."""

    held_out: SetSource | str
    """Held-out features."""

    ali_train: str | None = None
    """Alignment directory of the training set."""

    ali_held_out: str | None = None
    """Alignment directory of the held-out set."""

    labels: str | None = None
    """rspecifier of targets for both sets, instead of alignments."""

    held_out_labels: str | None = None
    """rspecifier of targets of the held-out set, where they are in a table apart."""

    num_tgt: int | None = None
    """Outputs of the network; None is the alignments' number of pdfs."""

    frame_weights: str | None = None
    """rspecifier of vectors, for both sets."""

    utt_weights: str | None = None
    """rspecifier of numbers, for both sets."""

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

    lda_dim: int = 300
    """Dimension after LDA."""

    feats_std: float = 1.0
    """Standard deviation of the network's inputs."""

    mlp_proto: str | None = None
    """Prototype file to use instead of the config's."""

    mlp_init: str | None = None
    """nnet1 file to start from."""

    init: str | None = None
    """Run folder or nnet1 file to start from. Of a run its feature transform is taken,
    its cmvn_opts and delta_opts, unless others are given."""

    freeze: str | None = None
    """Components that do not learn, as in `nnet_tune.TuneOptions`."""

    replace_output: int | None = None
    """Width of a new output layer, likewise."""

    learn_rate_coefs: str | None = None
    """Learn rates of components, likewise."""

    dbn: str | None = None
    """Stack of RBMs that the network starts with: an nnet1 file or the folder of its
    pre-training."""

    length_tolerance: int = 5
    """Frames by which targets and features may differ, exclusive."""

    max_frames: int = 360_000
    """Longer utterances are left out."""

    randomizer_size: int = 32_768
    """Frames in the buffer that is shuffled."""

    shuffle_seed: int = 777
    """Of the order of the utterances."""

    copy_feats: bool = True
    """Read a shuffled local copy of the features in every epoch."""

    copy_feats_tmproot: str | None = None
    """Directory for the copy; None is the run folder."""

    copy_feats_compress: bool | None = None
    """Whether the copy holds 8 bits a value, as train.sh makes it; None does where
    data directories are given, as to train.sh, and not where tables are."""

    allow_pipes: bool = False
    """Whether entries of scp files may be commands."""
