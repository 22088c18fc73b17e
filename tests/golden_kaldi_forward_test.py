"""The command lines of goldens/kaldi/forward*/README, run through our functions."""

import pathlib
import shlex

import numpy as np
import pytest

from seqzoo.datasets import tables
from seqzoo.datasets.errors import InputError
from seqzoo.zoo.acoustic import priors
from seqzoo.zoo.acoustic.forward import forward
from seqzoo.zoo.acoustic.nnet_scores import NnetScores
from seqzoo.zoo.acoustic.score_options import ScoreOptions
from seqzoo.zoo.checkpoints import nnet1

GOLDENS = pathlib.Path(__file__).parent / "goldens" / "kaldi"


def command_lines():
    """`(folder, words, expected)`; `expected` is None for a line that Kaldi refused."""
    for readme in sorted(GOLDENS.glob("forward*/README")):
        for line in readme.read_text().splitlines():
            if not line.startswith("nnet-forward "):
                continue
            command, _, refused = line.partition(" -> rc=")
            words = shlex.split(command)[1:]
            name = None if refused else words[-1].partition(":")[2]
            case = f"{readme.parent.name}-{pathlib.Path(name or 'refused').stem}"
            yield pytest.param(readme.parent, words, name, id=case)


def run(case, words):
    given = dict(w.removeprefix("--").split("=") for w in words if w.startswith("--"))
    files = [word for word in words if not word.startswith("--")]
    apply_log = given.get("apply-log") == "true"
    no_softmax = given.get("no-softmax") == "true"
    if not files:  # A line of which only the options were recorded.
        ScoreOptions(apply_log=apply_log, no_softmax=no_softmax)
    model, feats, _ = files
    nnet = nnet1.read(str(case / model))
    log_priors = None
    if counts := given.get("class-frame-counts"):
        log_priors = priors.read(
            str(case / counts),
            nnet.output_dim,
            prior_scale=float(given.get("prior-scale", 1.0)),
            prior_floor=float(given.get("prior-floor", 1e-10)),
        )
    options = ScoreOptions(
        apply_log=apply_log, no_softmax=no_softmax, log_priors=log_priors
    )
    transform = None
    if path := given.get("feature-transform"):
        transform = nnet1.read(str(case / path))
    source = tables.read(feats.replace("ark:", f"ark:{case}/"))
    found = {}
    forward(NnetScores(nnet, transform, options), source, found.__setitem__)
    return found


@pytest.mark.parametrize(("case", "words", "expected"), list(command_lines()))
def test_golden_kaldi_nnet_forward(case, words, expected):
    if expected is None:
        with pytest.raises(InputError, match="exclude each other"):
            run(case, words)
        return
    recorded = case / pathlib.Path(expected).with_suffix(".txt")
    found = run(case, words)
    wanted = dict(tables.read(f"ark:{recorded}"))
    assert list(found) == list(wanted)
    for utt, matrix in wanted.items():
        np.testing.assert_allclose(found[utt], matrix, rtol=1e-5, atol=1e-6)
