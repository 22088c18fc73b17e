"""`seqzoo import`: a model of an old toolkit as a run folder."""

import logging
import os

import absl.flags

from seqzoo.datasets.errors import InputError
from seqzoo.zoo.commands import command_line, common

USAGE = """
seqzoo import kaldi MODEL RUN_DIR

Makes a run folder of a Kaldi nnet1 model, for `eval`, `forward`, `export`, `info` and
`train --init`. MODEL is a network's file, `final.nnet`, or the folder of a Kaldi run,
of which final.feature_transform, cmvn_opts, delta_opts and ali_train_pdf.counts are
taken too. Before RUN_DIR appears, the network's outputs are compared with those of the
Keras model that is made of it, and what was written is read again.

seqzoo import torch FILE RUN_DIR

Makes a run folder of a language model that Torch7 saved, for `eval`, `sample`, `export`
and `train --init`. FILE is the log of a training by noise-contrastive-estimate.lua or
multigpu-nce-rnnlm.lua, or a checkpoint of torch-rnn, whose words are characters.
Options, vocabulary, losses and weights come along. Before RUN_DIR appears, what was
written is read again, and words' probabilities are compared with those that Torch's
layers give. No flag but --threads and the general ones belongs to it.
"""

_LOG = logging.getLogger(__name__)
_TOOLKITS = ("kaldi", "torch")
_KALDI_ONLY = (
    "feature_transform",
    "class_frame_counts",
    "cmvn_opts",
    "delta_opts",
    "check_feats",
)


def define(flag_values: absl.flags.FlagValues) -> None:
    """What belongs to the model, and what it is checked on."""

    def text(name: str, meaning: str) -> None:
        absl.flags.DEFINE_string(name, None, meaning, flag_values=flag_values)

    text("feature_transform", "an nnet1 file in front of the network; the folder's")
    text(
        "class_frame_counts", "frames of each class, a vector; the folder's by default"
    )
    text("cmvn_opts", "options of apply-cmvn in its training; the folder's by default")
    text("delta_opts", "options of add-deltas in its training; the folder's by default")
    text(
        "check_feats",
        "features to compare outputs on, an rspecifier, of which 10 utterances are "
        "taken; random ones by default",
    )
    common.define_threads(flag_values)


def run(args: list[str], flags: absl.flags.FlagValues) -> None:
    """Imports."""
    common.check_args(args, 3, 3, "give the toolkit, MODEL and RUN_DIR")
    toolkit, source, directory = args
    if toolkit not in _TOOLKITS:
        near = command_line.nearest(toolkit, _TOOLKITS)
        hint = f"did you mean {near}?" if near else f"{', '.join(_TOOLKITS)} is taken."
        raise InputError(f"{toolkit!r} is no toolkit that is imported from; {hint}")
    if toolkit == "torch":
        _import_torch(source, directory, flags)
    else:
        _import_kaldi(source, directory, flags)


def _import_torch(source: str, directory: str, flags: absl.flags.FlagValues) -> None:
    for flag in _KALDI_ONLY:
        if flags[flag].present:
            raise InputError(f"--{flag} is for `import kaldi`; leave it out.")
    common.start_tensorflow(flags)
    from seqzoo.zoo.language import import_torch

    told = import_torch.write(source, directory, common.command)
    print(f"{directory}: {told}")


def _import_kaldi(source: str, directory: str, flags: absl.flags.FlagValues) -> None:
    common.start_tensorflow(flags)
    from seqzoo.zoo.acoustic import import_kaldi, trained_model

    if flags.feature_transform is None and os.path.isfile(source):
        beside = os.path.join(os.path.dirname(source), trained_model.TRANSFORM)
        if os.path.exists(beside) and not os.path.samefile(beside, source):
            _LOG.warning(
                "%s is not taken; give it as --feature_transform, or import the "
                "folder, if it belongs to the network.",
                beside,
            )
    model = import_kaldi.read(
        source,
        flags.feature_transform,
        flags.class_frame_counts,
        flags.cmvn_opts,
        flags.delta_opts,
    )
    report = import_kaldi.write(
        model, directory, common.command, source, flags.check_feats
    )
    print(f"{directory}: {import_kaldi.sentence(model, report)}")
