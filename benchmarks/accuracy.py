"""Frame accuracy of every acoustic recipe on real speech, beside what nnet1 reached.

Trains on the bundled prompts, and on AN4 where the environment's SEQZOO_DATA names a
folder that holds it as `an4/{train,cv}`. Runs are kept in --work and found again. It
prints a table in Markdown; `--only=REGEX` picks runs.
"""

import argparse
import csv
import dataclasses
import os
import pathlib
import re
import shlex
import subprocess
import sys

import data

from seqzoo.datasets import prompts

_CMVN = "--cmvn_opts=--norm-means=true --norm-vars=true"
# Kaldi nnet1 with the same settings: held-out cross-entropy and accuracies in percent.
_KALDI = {
    "prompts en dnn": (0.969288, 69.79, 69.29),
    "prompts es dnn": (0.891927, 72.34, 73.33),
    "prompts fr dnn": (1.01167, 68.32, 66.51),
    "prompts en multilingual": (None, 71.87, 71.00),
    "prompts es multilingual": (None, 73.66, 72.96),
    "prompts fr multilingual": (None, 71.89, 69.58),
    "an4 dnn": (0.822262, 72.94, None),
}
_MODELS: dict[str, tuple[str, ...]] = {
    "dnn": ("acoustic/dnn", "--hid_layers=2", "--hid_dim=512"),
    "dbn+dnn": ("acoustic/dnn", "--hid_layers=0"),
    "cnn": (
        *("acoustic/cnn", "--hid_layers=2", "--hid_dim=512"),
        "--delta_opts=--delta-order=2",
    ),
    "lstm": (
        *("acoustic/lstm", "--set=cell_dim=256", "--set=proj_dim=128"),
        *("--learn_rate=0.0004", "--num_streams=4"),
    ),
    "blstm": (
        *("acoustic/blstm", "--set=cell_dim=128", "--set=proj_dim=64"),
        *("--set=proj_dim_last=64", "--learn_rate=0.0001", "--num_streams=4"),
    ),
}
# 13 cepstra are too few for the filters that 40 frequencies get.
_AN4_CNN = "--set=cnn_proto_opts=--patch-dim1=4 --pool-size=2 --pool-step=2"
_DBN = ("--nn_depth=2", "--hid_dim=512", "--rbm_iter=4")


@dataclasses.dataclass(frozen=True)
class Corpus:
    """Directories of data with alignments, as train.sh takes them."""

    name: str
    folder: pathlib.Path
    sets: tuple[str, ...]

    def of(self, name: str) -> str:
        return str(self.folder / name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--work", default="accuracy", help="folder of the runs")
    parser.add_argument("--only", default="", help="names to run, a regular expression")
    given = parser.parse_args()
    work = pathlib.Path(given.work).resolve()
    bundled = pathlib.Path(prompts.copy_to(str(work / "prompts")))
    corpora = [
        Corpus(f"prompts {language}", bundled / language, ("train", "cv", "test"))
        for language in ("en", "es", "fr")
    ]
    lines: list[str] = []
    for corpus in corpora:
        models = _MODELS if corpus.name == "prompts en" else ["dnn"]
        for model in models:
            if re.search(given.only, f"{corpus.name} {model}"):
                lines += train(work, corpus, model)
    if re.search(given.only, "multilingual"):
        lines += multilingual(work, corpora)
    if root := os.environ.get("SEQZOO_DATA"):
        an4 = Corpus("an4", pathlib.Path(root).resolve() / "an4", ("train", "cv"))
        for model in _MODELS:
            if re.search(given.only, f"an4 {model}"):
                lines += train(work, an4, model)
    print("| data, model | epochs | minutes | cv xent | cv % | test % | nnet1 |")
    print("|---|---|---|---|---|---|---|")
    print("\n".join(lines))


def train(work: pathlib.Path, corpus: Corpus, model: str) -> list[str]:
    """Trains and scores one model; its line of the table."""
    name = f"{corpus.name} {model}"
    run = work / name.replace(" ", "_")
    words = list(_MODELS[model])
    if corpus.name == "an4" and model == "cnn":
        words.append(_AN4_CNN)
    train_set, held_out = data_flags(corpus, "train"), data_flags(corpus, "cv", "cv_")
    if model == "dbn+dnn":
        dbn = f"{run}_pretrained"
        no_labels = [flag for flag in train_set if not flag.startswith("--labels")]
        seqzoo(
            corpus,
            "train",
            "acoustic/dbn",
            *_DBN,
            _CMVN,
            *no_labels,
            f"--run_dir={dbn}",
        )
        words += [
            f"--dbn={dbn}/2.dbn",
            f"--feature_transform={dbn}/final.feature_transform",
        ]
    seqzoo(
        *(corpus, "train", *words, _CMVN, *train_set, *held_out),
        *(f"--num_tgt={classes(corpus)}", f"--run_dir={run}"),
    )
    cv, *test = (score(corpus, run, name) for name in corpus.sets if name != "train")
    return [line(name, run, cv, test[0] if test else None)]


def multilingual(work: pathlib.Path, corpora: list[Corpus]) -> list[str]:
    """One network for all languages; a line for each."""
    together = Corpus("prompts", corpora[0].folder.parent, corpora[0].sets)
    run = work / "prompts_multilingual"
    languages = [corpus.folder.name for corpus in corpora]
    seqzoo(
        *(together, "train", "acoustic/multilingual", "--hid_layers=2"),
        *("--hid_dim=512", _CMVN, f"--languages={','.join(languages)}"),
        *data_flags(together, "{}/train"),
        *data_flags(together, "{}/cv", "cv_"),
        f"--set=block_dims={','.join(str(classes(corpus)) for corpus in corpora)}",
        f"--run_dir={run}",
    )
    rows = []
    for corpus, language in zip(corpora, languages, strict=True):
        cv, test = (score(corpus, run, name, language) for name in ("cv", "test"))
        rows.append(line(f"{corpus.name} multilingual", run, cv, test))
    return rows


def data_flags(corpus: Corpus, name: str, prefix: str = "") -> list[str]:
    """The tables of one set."""
    return [
        f"--{prefix}feats=scp:{name}/feats.scp",
        f"--{prefix}cmvn=scp:{name}/cmvn.scp",
        f"--{prefix}utt2spk=ark:{name}/utt2spk",
        f"--{prefix}labels=scp:{name}/ali.scp",
    ]


def classes(corpus: Corpus) -> int:
    return len((corpus.folder / "pdfs.txt").read_text().splitlines())


def seqzoo(corpus: Corpus, *words: str) -> str:
    """Runs a command where the corpus' paths hold, and gives what it prints."""
    print(f"$ seqzoo {shlex.join(words)}", file=sys.stderr, flush=True)
    done = subprocess.run(
        [*data.SEQZOO, *words], stdout=subprocess.PIPE, text=True, cwd=corpus.folder
    )
    if done.returncode:
        sys.exit(done.returncode)
    return done.stdout


def score(
    corpus: Corpus, run: pathlib.Path, name: str, language: str | None = None
) -> tuple[float, float]:
    """Loss and accuracy, in percent, on a set."""
    words = ["eval", str(run), *data_flags(corpus, name)]
    if language is not None:
        words.append(f"--block={language}")
    found = seqzoo(corpus, *words)
    loss = re.search(r"AvgLoss: ([\d.]+)", found)
    accuracy = re.search(r"FRAME_ACCURACY >> ([\d.]+)%", found)
    assert loss and accuracy, words
    return float(loss[1]), float(accuracy[1])


def line(
    name: str,
    run: pathlib.Path,
    cv: tuple[float, float],
    test: tuple[float, float] | None,
) -> str:
    """A line of the table."""
    with open(run / "history.csv", encoding="utf-8") as file:
        epochs = list(csv.DictReader(file))
    minutes = sum(float(epoch["seconds"]) for epoch in epochs) / 60
    loss, cv_kaldi, test_kaldi = _KALDI.get(name, (None, None, None))
    kaldi = " / ".join(
        f"{number:.{digits}f}"
        for number, digits in ((loss, 3), (cv_kaldi, 2), (test_kaldi, 2))
        if number is not None
    )
    shown = "" if test is None else f"{test[1]:.2f}"
    return (
        f"| {name} | {len(epochs)} | {minutes:.1f} | {cv[0]:.3f} | {cv[1]:.2f} | "
        f"{shown} | {kaldi} |"
    )


if __name__ == "__main__":
    main()
