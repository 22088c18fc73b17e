"""The flags of `seqzoo train`."""

from typing import Any

import absl.flags

from seqzoo.zoo.commands import common, fine_tune_flags, pretrain

ALIASES = {"nnet_proto": "mlp_proto", "nnet_init": "mlp_init"}
"""What newer train.sh call a flag, and its name in the manual."""

NETWORK_TYPES = {
    "dnn": "acoustic/dnn",
    "cnn1d": "acoustic/cnn",
    "lstm": "acoustic/lstm",
    "blstm": "acoustic/blstm",
}
"""train.sh's names of networks, and ours."""


def define(flag_values: absl.flags.FlagValues) -> None:
    """train.sh's and the training tools' options, and a few of our own."""
    text, number, real, switch = (
        _definer(kind, flag_values)
        for kind in (
            absl.flags.DEFINE_string,
            absl.flags.DEFINE_integer,
            absl.flags.DEFINE_float,
            absl.flags.DEFINE_bool,
        )
    )
    absl.flags.DEFINE_multi_string(
        "set", [], "a setting of the model, field=value", flag_values=flag_values
    )
    text("run_dir", None, "the run folder, if it is not the sixth directory")
    # Data.
    text("feats", None, "features to train on, an rspecifier")
    text("cv_feats", None, "held-out features, an rspecifier")
    text("cmvn", None, "statistics for --feats by speaker, an rspecifier")
    text("cv_cmvn", None, "statistics for --cv_feats, an rspecifier")
    text("utt2spk", None, "speakers of --feats, an rspecifier")
    text("cv_utt2spk", None, "speakers of --cv_feats, an rspecifier")
    text("labels", None, "targets of both sets, an rspecifier; needs --num_tgt")
    text("cv_labels", None, "held-out targets, if they are not in --labels")
    number("num_tgt", None, "outputs of the network; from the alignments by default")
    text("frame_weights", None, "a weight for each frame, an rspecifier of vectors")
    text("utt_weights", None, "a weight for each utterance, an rspecifier")
    text("cmvn_opts", None, "normalise features by speaker: options of apply-cmvn")
    text("delta_opts", None, "add deltas: options of add-deltas")
    number("length_tolerance", 5, "frames by which features and targets may differ")
    number(
        "max_frames",
        360_000,
        "leave out longer utterances; tools for sequences have their own default. In "
        "nnet-train-multistream-perutt also the frames in a minibatch, with padding",
    )
    switch("copy_feats", True, "read a shuffled local copy of the features")
    text("copy_feats_tmproot", None, "where the copy goes; the run folder by default")
    switch(
        "copy_feats_compress",
        None,
        "keep the copy with 8 bits a value, as train.sh does: so by default if "
        "directories are given, not if tables are. What is compressed already keeps "
        "its values",
    )
    # Feature transform and network.
    text("feature_transform", None, "use this nnet1 file as feature transform")
    absl.flags.DEFINE_enum(
        "feat_type",
        "plain",
        ["plain", "traps", "transf", "lda"],
        "the feature transform to make",
        flag_values=flag_values,
    )
    absl.flags.DEFINE_enum(
        "network_type",
        None,
        list(NETWORK_TYPES),
        "train.sh's name of MODEL",
        flag_values=flag_values,
    )
    number(
        "splice",
        None,
        "frames of context on each side; 5 by default, 0 for LSTMs",
        lower_bound=0,
    )
    number(
        "target_delay",
        None,
        "frames that the network sees before it tells the first; 5 in acoustic/lstm "
        "by default, 0 elsewhere and with --splice",
        lower_bound=0,
    )
    number("traps_dct_basis", 11, "feat_type traps: cosines for each dimension")
    text("transf", None, "feat_type transf: the matrix; ALI_TRAIN/final.mat by default")
    number("splice_after_transf", 5, "feat_type transf: context after it, in frames")
    number("lda_dim", 300, "feat_type lda: dimensions that stay")
    real("feats_std", 1.0, "standard deviation of the network's inputs")
    number("hid_layers", None, "hidden layers of a DNN; 6 by default, 0 with --dbn")
    number("hid_dim", None, "units in each; 2048 by default")
    number("bn_dim", None, "width of a linear bottleneck after the hidden layers")
    text("proto_opts", "", "options of the model's prototype script, one string")
    text("cnn_proto_opts", "", "acoustic/cnn: options of make_cnn_proto.py, one string")
    text(
        "languages",
        None,
        "acoustic/multilingual: names of the languages, as en,es,fr; {} in the names "
        "of data stands for each",
    )
    text("mlp_proto", None, "use this prototype")
    text("mlp_init", None, "start from this nnet1 file")
    text(
        "dbn",
        None,
        "start with this stack of RBMs: the folder of acoustic/dbn, whose feature "
        "transform is taken too unless another is given, or a file",
    )
    number("seed", 777, "of initial weights and of the order of utterances")
    # The training tools.
    text(
        "objective_function",
        None,
        "xent (cross-entropy), mse (mean square error) or "
        "multitask,LOSS,DIM,WEIGHT,...; xent by default",
    )
    real(
        "learn_rate",
        None,
        "per frame; by default 0.008, in DNNs with tanh 0.00001, in acoustic/lstm "
        "0.0001, in acoustic/blstm and per utterance 0.00004",
    )
    real(
        "momentum",
        0.0,
        "in [0, 1), not compensated by 1 - momentum; LSTMs have 0.9 by default",
    )
    real("l1_penalty", 0.0, "L1 penalty on weights")
    real("l2_penalty", 0.0, "L2 penalty on weights")
    number("minibatch_size", 256, "shuffled frames in a minibatch", lower_bound=1)
    number(
        "num_streams",
        4,
        "utterances side by side in the multistream tools; 10 in LSTMs by default",
        lower_bound=1,
    )
    number(
        "batch_size",
        20,
        "frames of each stream in a minibatch of nnet-train-multistream",
        lower_bound=1,
    )
    number(
        "randomizer_size",
        32_768,
        "frames in the buffer that is shuffled; 200,000 by default with sequences, "
        "whose utterances are shuffled in it and sorted by length",
        lower_bound=1,
    )
    number("randomizer_seed", 777, "of the shuffles")
    switch("randomize", True, "shuffle frames, or utterances of sequences")
    number("loss_report_frames", 1_800_000, "frames between two progress figures")
    switch("binary", True, "write networks in binary; text otherwise")
    # train_scheduler.sh.
    number("max_iters", 20, "epochs at most")
    number("min_iters", 0, "epochs at least, all accepted")
    number("keep_lr_iters", 0, "epochs at the start that keep the learning rate")
    real("start_halving_impr", 0.01, "relative improvement below which it falls")
    real("end_halving_impr", 0.001, "relative improvement below which training ends")
    real("halving_factor", 0.5, "what the learning rate is multiplied with")
    text(
        "dropout_schedule",
        "",
        "dropout rates of the first epochs, as 0.5,0.5,0.2; the last one stays",
    )
    text(
        "train_tool",
        "",
        "nnet-train-frmshuff, nnet-train-multistream, nnet-train-multistream-perutt or "
        "nnet-train-perutt, with its options, one string; the model tells by default",
    )
    text("train_tool_opts", "", "options of the train_tool, one string")
    text("scheduler_opts", "", "options of train_scheduler.sh, one string")
    switch("skip_cuda_check", True, "false: stop where there is no GPU")
    switch(
        "skip_phoneset_check",
        True,
        "false: stop if LANG and the ALI directories have other phones.txt",
    )
    # Ours.
    switch(
        "kaldi_tail",
        False,
        "leave out what nnet1 does at the end of a set: frames that fill no minibatch, "
        "all when a stream lacks an utterance, the last utterance of the buckets",
    )
    switch(
        "kaldi_gradients", False, "train with nnet1's gradients where they are wrong"
    )
    switch("bfloat16", False, "compute in bfloat16, with float32 weights")
    switch("profile", False, "write a TensorFlow profile of the first epoch's start")
    for alias, flag in ALIASES.items():
        absl.flags.DEFINE_alias(alias, flag, flag_values=flag_values)
    fine_tune_flags.define(flag_values)
    pretrain.define(flag_values)
    common.define_use_gpu(flag_values, "optional")
    common.define_threads(flag_values)
    common.define_allow_pipes(flag_values)


def _definer(kind: Any, flag_values: absl.flags.FlagValues) -> Any:
    def define_one(name: str, default: Any, meaning: str, **limits: Any) -> None:
        kind(name, default, meaning, flag_values=flag_values, **limits)

    return define_one
