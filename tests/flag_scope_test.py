"""Flags of `seqzoo train` that say nothing beside the model, tool or network given."""

import os

import pytest

from seqzoo.zoo.commands import main

SETS = ("tr", "cv", "-", "tr", "cv", "run")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            "acoustic/dnn --languages=en,es",
            "--languages is for acoustic/multilingual; acoustic/dnn has no such flag",
        ),
        (
            "acoustic/dnn --cnn-proto-opts=--num-filters1=3",
            "--cnn_proto_opts is for acoustic/cnn; acoustic/dnn has no such flag",
        ),
        (
            "acoustic/lstm --hid-layers=3",
            "acoustic/lstm has no such flag, `seqzoo models acoustic/lstm` lists what",
        ),
        ("acoustic/blstm --hid-dim=3", "acoustic/blstm has no such flag"),
        ("acoustic/lstm --bn-dim=3", "--bn_dim is for acoustic/dnn, "),
        ("acoustic/multilingual --num-tgt=3", "give --set block_dims=N,N,..."),
        (
            "acoustic/dnn --num-streams=3",
            "--num_streams is for nnet-train-multistream and "
            "nnet-train-multistream-perutt, but nnet-train-frmshuff trains",
        ),
        (
            "acoustic/dnn --batch-size=3",
            "--batch_size is for nnet-train-multistream, but nnet-train-frmshuff",
        ),
        (
            "acoustic/lstm --minibatch-size=3",
            "--minibatch_size is for nnet-train-frmshuff, but nnet-train-multistream "
            "trains; leave it out, or give another --train_tool.",
        ),
        (
            "acoustic/blstm --train-tool-opts=--batch-size=3",
            "--batch_size is for nnet-train-multistream, but nnet-train-multi",
        ),
        (
            "acoustic/lstm --init=old --set=cell_dim=3",
            "--set cell_dim=3 is for a new network, but --init=old goes on from one",
        ),
        ("acoustic/dnn --splice=-1", "--splice=-1: a non-negative integer is taken"),
        ("acoustic/lstm --target-delay=-1", "--target_delay=-1: a non-negative"),
        ("acoustic/lstm --cell-dim=3", "did you mean --set cell_dim=3?"),
        ("acoustic/lstm --cell-dim 3", "did you mean --set cell_dim=...?"),
        ("acoustic/bottleneck --bn-dim=0", "bn_dim is 0; 1 is the least"),
        (
            "acoustic/multilingual --languages=a,b --set=task_weights=0,0",
            "task_weights are (0.0, 0.0); one at least is above 0",
        ),
    ],
)
def test_a_flag_that_would_do_nothing_is_refused(
    tmp_path, monkeypatch, capsys, words, told
):
    monkeypatch.chdir(tmp_path)
    assert main.main(["train", *words.split(), *SETS]) == 1
    [line] = capsys.readouterr().err.splitlines()
    assert told in line
    assert not os.listdir(tmp_path)
