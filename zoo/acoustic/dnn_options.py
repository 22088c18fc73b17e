"""What the recipe of `acoustic/dnn` is told: data, feature transform, first weights."""

import dataclasses

from seqzoo.zoo.acoustic.feature_options import FeatureOptions, SetSource

__all__ = ["DnnRecipe", "SetSource"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class DnnRecipe(FeatureOptions):
    """All that steps/nnet/train.sh is told."""

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

    lda_dim: int = 300
    """Dimension after LDA."""

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
