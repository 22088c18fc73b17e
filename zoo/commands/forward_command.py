"""`seqzoo forward`: features in, scores out."""

import logging
import os
from typing import Any

import absl.flags

from seqzoo.datasets.errors import InputError
from seqzoo.zoo.commands import common

USAGE = """
seqzoo forward MODEL RSPECIFIER WSPECIFIER

Runs a model on features and writes its outputs, as nnet-forward does. MODEL is the
folder of a run, ours or Kaldi's, with its feature transform and its delta_opts; a Kaldi
nnet1 file; or a SavedModel, of which the newest version is taken. Instead of
RSPECIFIER, a data directory with feats.scp can be given; its cmvn.scp and utt2spk serve
if the model was trained on normalised features.
"""

_LOG = logging.getLogger(__name__)


def define(flag_values: absl.flags.FlagValues) -> None:
    """nnet-forward's options, and those of the features."""

    def text(name: str, meaning: str) -> None:
        absl.flags.DEFINE_string(name, None, meaning, flag_values=flag_values)

    def switch(name: str, meaning: str) -> None:
        absl.flags.DEFINE_bool(name, False, meaning, flag_values=flag_values)

    text("feature_transform", "an nnet1 file in front of the network")
    switch("apply_log", "write log(y + 1e-20)")
    switch("no_softmax", "leave out the softmax at the end of the network")
    text("class_frame_counts", "frames of each class, a vector: subtract log-priors")
    absl.flags.DEFINE_float(
        "prior_scale", 1.0, "times the log-priors", flag_values=flag_values
    )
    absl.flags.DEFINE_float(
        "prior_floor",
        1e-10,
        "classes with a smaller share of the frames are disabled",
        flag_values=flag_values,
    )
    text("cmvn", "statistics to normalise features with, an rspecifier or a file")
    text("utt2spk", "the speaker of each utterance for --cmvn, an rspecifier")
    text("cmvn_opts", "options of apply-cmvn for --cmvn; the run's by default")
    text("delta_opts", "options of add-deltas; the run's by default")
    common.define_use_gpu(flag_values, "no")
    common.define_part(flag_values)
    common.define_threads(flag_values)
    common.define_allow_pipes(flag_values)


def run(args: list[str], flags: absl.flags.FlagValues) -> None:
    """Scores."""
    common.check_args(args, 3, 3, "give MODEL, RSPECIFIER and WSPECIFIER")
    common.check_acoustic(args[0])
    from seqzoo.zoo.acoustic.score_options import ScoreOptions

    ScoreOptions(apply_log=flags.apply_log, no_softmax=flags.no_softmax)
    tf = common.start_tensorflow(flags)
    common.choose_device(tf, flags.use_gpu)
    from tqdm import tqdm

    from seqzoo.datasets.table_writer import Writer
    from seqzoo.zoo.acoustic.forward import forward

    scores, cmvn_opts, delta_opts = _model(args[0], flags)
    feats = _features(args[1], cmvn_opts, delta_opts, flags)
    quiet = True if flags.verbose < 0 else None  # None: where it is no terminal.
    with Writer(args[2]) as writer, tqdm(feats, unit="utt", disable=quiet) as shown:
        report = forward(scores, shown, writer.write)
    _LOG.info("%s", report)


def _model(
    path: str, flags: absl.flags.FlagValues
) -> tuple[Any, str | None, str | None]:
    """The model, and the options its features went through in training."""
    from seqzoo.zoo.acoustic import saved_model_scores, trained_model

    found = saved_model_scores.find(path) if path != "-" else None
    if found is not None:
        from seqzoo.export import saved_model

        if flags.feature_transform:
            raise InputError(f"{path}: a SavedModel has its feature transform in it.")
        if flags.block or flags.remove_last_components:
            raise InputError(
                f"{path}: a SavedModel is used as it is; give --block and "
                "--remove_last_components to `seqzoo export`."
            )
        served = saved_model_scores.SavedModelScores(found)
        served.options = _options(served.output_dim, flags)
        notes = saved_model.description(found)
        return served, notes.get("cmvn_opts"), notes.get("delta_opts")

    from seqzoo.zoo.acoustic.nnet_scores import NnetScores

    model = trained_model.read(path, flags.feature_transform, **common.part(flags))
    options = _options(model.nnet.output_dim, flags)
    scores = NnetScores(model.nnet, model.feature_transform, options)
    return scores, model.cmvn_opts, model.delta_opts


def _options(classes: int, flags: absl.flags.FlagValues) -> Any:
    from seqzoo.zoo.acoustic import priors
    from seqzoo.zoo.acoustic.score_options import ScoreOptions

    log_priors = None
    if flags.class_frame_counts:
        log_priors = priors.read(
            flags.class_frame_counts,
            classes,
            prior_scale=flags.prior_scale,
            prior_floor=flags.prior_floor,
        )
    return ScoreOptions(
        apply_log=flags.apply_log, no_softmax=flags.no_softmax, log_priors=log_priors
    )


def _features(
    source: str,
    cmvn_opts: str | None,
    delta_opts: str | None,
    flags: absl.flags.FlagValues,
) -> Any:
    from seqzoo.datasets.data_dir import DataDir
    from seqzoo.datasets.feature_pipeline import FeaturePipeline

    if flags.cmvn_opts is not None:
        cmvn_opts = flags.cmvn_opts
    if flags.delta_opts is not None:
        delta_opts = flags.delta_opts
    feats, cmvn, utt2spk = source, flags.cmvn, flags.utt2spk
    if os.path.isdir(source):
        directory = DataDir(source)
        feats = directory.feats
        if cmvn is None and cmvn_opts is not None:
            cmvn, utt2spk = directory.cmvn, utt2spk or directory.utt2spk
    if cmvn is None and cmvn_opts is not None:
        if flags.cmvn_opts is not None:
            raise InputError(
                "--cmvn_opts without statistics to normalise with; give --cmvn."
            )
        _LOG.warning(
            "the model was trained on normalised features (cmvn_opts %r); those given "
            "are taken as normalised, give --cmvn otherwise.",
            cmvn_opts,
        )
        cmvn_opts = None
    return FeaturePipeline(
        feats, cmvn_opts, cmvn, utt2spk, delta_opts, allow_pipes=flags.allow_pipes
    )
