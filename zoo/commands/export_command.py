"""`seqzoo export`: a trained model as a SavedModel, or back in Kaldi's form."""

import logging
from typing import Any

import absl.flags

from seqzoo.datasets.errors import InputError
from seqzoo.zoo.commands import common, language_export
from seqzoo.zoo.training import run_kind

USAGE = """
seqzoo export RUN DIR

Writes the model of a run as a SavedModel, DIR/<version>/, with the signatures
posteriors, log_posteriors, log_likelihoods (if there are class counts) and
serving_default, and step for utterances in pieces; TF Serving takes DIR. RUN is the
folder of a run, ours or Kaldi's, with its feature transform and class counts; or a
Kaldi nnet1 file. Prints the folder.

Of a language model (a run folder, preset:NAME, Torch's .t7 file) the signatures are
score, also serving_default, next_word and step, with the vocabulary inside; its only
flags are --version, --check and --threads.

With --format=nnet1, DIR becomes a folder with final.nnet, final.feature_transform and
what else Kaldi's decoding scripts read.
"""

_LOG = logging.getLogger(__name__)
_NO_COUNTS = "none"


def define(flag_values: absl.flags.FlagValues) -> None:
    """What is written, and how."""
    absl.flags.DEFINE_enum(
        "format",
        "saved_model",
        ["saved_model", "nnet1"],
        "what to write",
        flag_values=flag_values,
    )
    absl.flags.DEFINE_integer(
        "version",
        None,
        "the SavedModel's version; the next after the highest in DIR by default",
        lower_bound=0,
        flag_values=flag_values,
    )
    absl.flags.DEFINE_string(
        "feature_transform",
        None,
        "an nnet1 file in front of the network, instead of the run's",
        flag_values=flag_values,
    )
    absl.flags.DEFINE_string(
        "class_frame_counts",
        None,
        "frames of each class, a vector; the run's ali_train_pdf.counts by default, "
        f"{_NO_COUNTS} for no log_likelihoods",
        flag_values=flag_values,
    )
    absl.flags.DEFINE_float(
        "prior_scale", 1.0, "times the log-priors", flag_values=flag_values
    )
    absl.flags.DEFINE_float(
        "prior_floor",
        1e-10,
        "classes with a smaller share of the frames are disabled",
        flag_values=flag_values,
    )
    absl.flags.DEFINE_bool(
        "check",
        False,
        "first load the SavedModel in a process that imports only TensorFlow, and "
        "compare",
        flag_values=flag_values,
    )
    absl.flags.DEFINE_bool(
        "step",
        None,
        "the signature step, which takes utterances in pieces; by default of networks "
        "with recurrent layers that need no whole utterances",
        flag_values=flag_values,
    )
    absl.flags.DEFINE_bool(
        "binary", True, "format nnet1: binary; text otherwise", flag_values=flag_values
    )
    common.define_part(flag_values)
    common.define_threads(flag_values)


def run(args: list[str], flags: absl.flags.FlagValues) -> None:
    """Writes."""
    common.check_args(args, 2, 2, "give RUN and DIR")
    if run_kind.is_language(args[0]):
        language_export.run(args, flags)
        return
    others = {
        "nnet1": ("version", "prior_scale", "prior_floor", "check", "step"),
        "saved_model": ("binary",),
    }
    for name in others[flags.format]:
        if not flags[name].using_default_value:
            raise InputError(f"--{name} is not for --format={flags.format}.")
    common.start_tensorflow(flags)
    for name in ("tensorflow", "absl"):
        logging.getLogger(name).setLevel(logging.WARNING)
    from seqzoo.zoo.acoustic import trained_model

    model = trained_model.read(args[0], flags.feature_transform, **common.part(flags))
    counts = flags.class_frame_counts or model.class_frame_counts
    if counts == _NO_COUNTS:
        counts = None
    if flags.format == "nnet1":
        trained_model.write(model, args[1], counts, binary=flags.binary)
        print(args[1])
        return
    print(_export(model, args[1], counts, flags))


def _export(
    model: Any, directory: str, counts: str | None, flags: absl.flags.FlagValues
) -> str:
    from seqzoo.export import saved_model
    from seqzoo.zoo.acoustic import dnn, priors
    from seqzoo.zoo.checkpoints import components, keras_layers

    softmax = isinstance(model.nnet.components[-1], components.Softmax)
    if counts and not softmax and not flags.class_frame_counts:
        counts = None
    log_priors = None
    if counts:
        log_priors = priors.read(
            counts,
            model.nnet.output_dim,
            prior_scale=flags.prior_scale,
            prior_floor=flags.prior_floor,
        )
    elif softmax:
        _LOG.info("no class counts, so log_likelihoods are left out.")
    transform = model.feature_transform
    front = [] if transform is None else keras_layers.to_layers(transform, "transform_")
    return saved_model.export(
        dnn.assemble(front, keras_layers.to_layers(model.nnet, "net_")),
        directory,
        version=flags.version,
        log_priors=log_priors,
        check=flags.check,
        step=flags.step,
        notes={
            name: value
            for name in ("cmvn_opts", "delta_opts")
            if (value := getattr(model, name)) is not None
        },
    )
