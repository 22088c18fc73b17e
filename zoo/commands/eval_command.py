"""`seqzoo eval`: what a model makes of a set it was not trained on."""

import absl.flags

from seqzoo.datasets.errors import InputError
from seqzoo.zoo.commands import common, language_eval

USAGE = """
seqzoo eval MODEL [DATA [ALI]]

Scores MODEL, a run folder or an nnet1 file, on the features of the data directory DATA
with the labels of the alignment directory ALI, or on --feats and --labels. Prints what
nnet-train-frmshuff --cross-validate=true prints. A run folder normalises features and
adds deltas as in training.

Of a language model (a run folder, preset:NAME, Torch's .t7 file) prints the perplexity
by the full softmax, over all words, <UNK> and the ends of sentences included. DATA is a
folder of text, of Torch's .th7 files or a cache, of which only the --set is read; a
text, one sentence a line; or - for standard input. Without it, the data of training.
"""


def define(flag_values: absl.flags.FlagValues) -> None:
    """nnet-train-frmshuff's options for cross-validation; those of language models."""

    def text(name: str, meaning: str) -> None:
        absl.flags.DEFINE_string(name, None, meaning, flag_values=flag_values)

    text("feats", "features, an rspecifier")
    text("labels", "targets, an rspecifier")
    text("cmvn", "statistics for --feats by speaker, an rspecifier")
    text("utt2spk", "speakers of --feats, an rspecifier")
    text("cmvn_opts", "options of apply-cmvn; the run folder's by default")
    text("delta_opts", "options of add-deltas; the run folder's by default")
    text("feature_transform", "nnet1 file; the run folder's by default")
    text("frame_weights", "a weight for each frame, an rspecifier of vectors")
    text("utt_weights", "a weight for each utterance, an rspecifier")
    absl.flags.DEFINE_string(
        "objective_function",
        "xent",
        "xent, mse or multitask,LOSS,DIM,WEIGHT,...",
        flag_values=flag_values,
    )
    absl.flags.DEFINE_integer(
        "minibatch_size",
        256,
        "frames at a time",
        lower_bound=1,
        flag_values=flag_values,
    )
    absl.flags.DEFINE_integer(
        "length_tolerance",
        5,
        "frames by which features and targets may differ",
        lower_bound=1,
        flag_values=flag_values,
    )
    absl.flags.DEFINE_bool(
        "kaldi_tail",
        False,
        "leave out the frames at the end that fill no minibatch",
        flag_values=flag_values,
    )
    common.define_part(flag_values)
    language_eval.define(flag_values)
    common.define_threads(flag_values)
    common.define_allow_pipes(flag_values)


def run(args: list[str], flags: absl.flags.FlagValues) -> None:
    """Scores."""
    if args:
        from seqzoo.zoo.training import run_kind

        language = run_kind.is_language(args[0])
        language_eval.check_flags(args[0], language, flags)
        if language:
            language_eval.run(args, flags)
            return
    if len(args) not in (1, 3):
        raise common.UsageError(f"give MODEL, or MODEL DATA ALI; found {len(args)}.")
    common.start_tensorflow(flags)
    from seqzoo.datasets import alignments
    from seqzoo.datasets.data_dir import DataDir
    from seqzoo.datasets.feature_pipeline import FeaturePipeline
    from seqzoo.zoo.acoustic import evaluate, trained_model

    model = trained_model.read(args[0], flags.feature_transform, **common.part(flags))
    cmvn_opts = model.cmvn_opts if flags.cmvn_opts is None else flags.cmvn_opts
    delta_opts = model.delta_opts if flags.delta_opts is None else flags.delta_opts
    if len(args) == 3:
        feats = DataDir(args[1]).pipeline(cmvn_opts or None, delta_opts or None)
        targets = flags.labels or alignments.read_alignments(args[2])
    elif flags.feats and flags.labels:
        if cmvn_opts and not flags.cmvn:
            raise InputError(
                f"{args[0]}: was trained on normalised features; give --cmvn with "
                "their statistics, or --cmvn_opts= if they are normalised already."
            )
        feats = FeaturePipeline(
            flags.feats,
            (cmvn_opts or None) if flags.cmvn else None,
            flags.cmvn,
            flags.utt2spk,
            delta_opts or None,
            allow_pipes=flags.allow_pipes,
        )
        targets = flags.labels
    else:
        raise InputError("no data: give DATA and ALI, or --feats and --labels.")
    found = evaluate.evaluate(
        model,
        feats,
        targets,
        objective=flags.objective_function,
        minibatch_size=flags.minibatch_size,
        kaldi_tail=flags.kaldi_tail,
        frame_weights=flags.frame_weights,
        utt_weights=flags.utt_weights,
        length_tolerance=flags.length_tolerance,
    )
    print(
        f"Done {found.done} files, {found.no_targets} with no tgt_mats, "
        f"{found.other_errors} with other errors."
    )
    if per_class := found.sums.per_class_report():
        print(f"{per_class}\nlargest class: {100 * found.majority:g}%")
    print(found.sums.report())
