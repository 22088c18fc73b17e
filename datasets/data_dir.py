"""Kaldi data directories."""

import os

from seqzoo.datasets import cmvn, deltas
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.feature_pipeline import FeaturePipeline


class DataDir:
    """A directory with features and what belongs to them, as rspecifiers.

    Args:
        directory: holds `feats.scp` (or `feats.ark`) and, if there, `cmvn.scp` (or
            `cmvn.ark`), `utt2spk` and `spk2utt`. Relative paths in the scp files hold
            from the current directory, or from `directory` or one above it.

    Attributes:
        feats: the features.
        cmvn: their statistics by speaker, or None.
        utt2spk: the speaker of each utterance, or None.
        spk2utt: the utterances of each speaker, or None.

    Raises:
        InputError: no such directory, or no features in it.
    """

    def __init__(self, directory: str):
        if not os.path.isdir(directory):
            raise InputError(f"{directory}: no such data directory.")
        self.directory = directory
        feats = self._table("feats")
        if feats is None:
            raise InputError(
                f"{directory}: neither feats.scp nor feats.ark is there; a data "
                "directory has one of them."
            )
        self.feats = feats
        self.cmvn = self._table("cmvn")
        self.utt2spk = self._text("utt2spk")
        self.spk2utt = self._text("spk2utt")

    def pipeline(
        self,
        cmvn_opts: str | cmvn.Options | None = None,
        delta_opts: str | deltas.Options | None = None,
    ) -> FeaturePipeline:
        """The features as a network takes them.

        Args:
            cmvn_opts: options of apply-cmvn; None leaves the features as they are.
            delta_opts: options of add-deltas; None adds none.

        Raises:
            InputError: `cmvn_opts` are given but no statistics are there.
        """
        if cmvn_opts is None:
            return FeaturePipeline(self.feats, delta_opts=delta_opts)
        if self.cmvn is None:
            raise InputError(
                f"{self.directory}: cmvn.scp is missing, but features are to be "
                "normalised; compute the statistics, or leave cmvn_opts out."
            )
        return FeaturePipeline(
            self.feats, cmvn_opts, self.cmvn, self.utt2spk, delta_opts
        )

    def _table(self, name: str) -> str | None:
        for form in ("scp", "ark"):
            path = os.path.join(self.directory, f"{name}.{form}")
            if os.path.exists(path):
                return f"{form}:{path}"
        return None

    def _text(self, name: str) -> str | None:
        path = os.path.join(self.directory, name)
        return f"ark:{path}" if os.path.exists(path) else None
