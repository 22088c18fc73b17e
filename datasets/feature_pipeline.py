"""Features on their way to the network: read, normalised, with deltas."""

import copy
import functools
import logging
import os
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqzoo.datasets import cmvn as cmvn_step
from seqzoo.datasets import deltas, feats_copy, specifiers, tables
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.scp_table import ScpTable, open_table

_LOG = logging.getLogger(__name__)
_RSPECIFIER = re.compile(r"\s*([a-z]+,)*(ark|scp)(,[a-z]+)*:")


class FeaturePipeline:
    """What copy-feats, apply-cmvn and add-deltas do one after the other.

    Iterating gives `(key, feats)`, `feats` float32 `(time, dim)`, in the order of the
    table. An utterance without frames or statistics is passed over with a warning.

    Args:
        feats_rspecifier: features.
        cmvn_opts: options of apply-cmvn, `--norm-means=true --norm-vars=true`; None
            is only the means, if `cmvn` is given.
        cmvn: statistics, an rspecifier by speaker or utterance, or a file with those
            of all; None leaves the features as they are.
        utt2spk: rspecifier of the speaker of each utterance; without, statistics are
            by utterance.
        delta_opts: options of add-deltas, `--delta-order=2`; None adds none.
        allow_pipes: whether entries of an scp of features may be commands.

    Attributes:
        name: what errors call it: the rspecifier, of a copy that of the original.
        num_done: utterances given out, in the current or last pass.
        num_errors: utterances passed over.
        replayable: whether a second pass is sure to give the same; not so from
            standard input or a command.

    Raises:
        InputError: arguments that have no use together; on reading, features and
            statistics that do not fit.

    Source: Kaldi's feature pipeline in steps/nnet/train.sh.
    """

    def __init__(
        self,
        feats_rspecifier: str,
        cmvn_opts: str | cmvn_step.Options | None = None,
        cmvn: str | None = None,
        utt2spk: str | None = None,
        delta_opts: str | deltas.Options | None = None,
        *,
        allow_pipes: bool = False,
    ):
        if cmvn is None and (cmvn_opts is not None or utt2spk is not None):
            given = "cmvn_opts" if cmvn_opts is not None else "utt2spk"
            raise InputError(
                f"{feats_rspecifier}: {given} is given without cmvn, the statistics "
                "to normalise with."
            )
        self._spec = specifiers.rspecifier(feats_rspecifier)
        self.feats_rspecifier = feats_rspecifier
        # Of a copy too it is that of the original: the copy goes with a failed run.
        self.name = feats_rspecifier
        self.cmvn = cmvn
        self.utt2spk = utt2spk
        if isinstance(cmvn_opts, str):
            cmvn_opts = cmvn_step.Options.parse(cmvn_opts)
        self.cmvn_opts = cmvn_opts or cmvn_step.Options()
        if isinstance(delta_opts, str):
            delta_opts = deltas.Options.parse(delta_opts)
        self.delta_opts = delta_opts
        self.allow_pipes = allow_pipes
        self.replayable = _is_file(self._spec.name)
        self.num_done = self.num_errors = 0
        self._seed: int | None = None

    def shuffled(self, seed: int) -> "FeaturePipeline":
        """The same utterances in another order, always alike for one seed.

        Raises:
            InputError: the features are not an scp.
        """
        if not self._spec.script:
            raise InputError(
                f"{self.feats_rspecifier}: an archive is read from front to back and "
                "cannot be shuffled; give an scp."
            )
        other = copy.copy(self)
        other._seed = seed
        return other

    def copied(
        self, directory: str, name: str, compress: bool = True
    ) -> "FeaturePipeline":
        """The same features from a compressed copy of the archive, as train.sh makes.

        The copy, `name.ark` and `name.scp`, holds 8-bit values in the order in which
        they are read here. Features that were compressed before keep their values.

        Args:
            directory: made if it is not there.
            name: of the copy; if it is there it is read as it is.
            compress: False copies float32.
        """
        scp = os.path.join(directory, f"{name}.scp")
        if not os.path.exists(scp):
            feats_copy.write(self._read(), directory, name, compress)
        other = copy.copy(self)
        for cached in ("_scp", "dim"):
            other.__dict__.pop(cached, None)
        other.feats_rspecifier = f"scp:{scp}"
        other._spec = specifiers.rspecifier(other.feats_rspecifier)
        other.replayable = True
        other._seed = None
        return other

    @property
    def order(self) -> list[str] | None:
        """The utterances of an scp in reading order; None for an archive."""
        return self._scp.order(self._seed) if self._spec.script else None

    @functools.cached_property
    def dim(self) -> int:
        """Dimension of what comes out, from the first utterance.

        Raises:
            InputError: there is none, or it can be read only once.
        """
        if not self.replayable:
            raise InputError(
                f"{self.name}: read only once, so the dimension is not "
                "known before; write the features to a file."
            )
        for _, feats in copy.copy(self):
            return feats.shape[1]
        raise InputError(f"{self.name}: no features that can be used.")

    def __iter__(self) -> Iterator[tuple[str, NDArray[np.float32]]]:
        self.num_done = self.num_errors = 0
        for key, feats in self._read():
            if not len(feats):
                _LOG.warning("%s, no frames", key)
                self.num_errors += 1
                continue
            try:
                feats = self._normalise(key, feats)
                if feats is not None and self.delta_opts is not None:
                    feats = deltas.add_deltas(
                        feats,
                        self.delta_opts.delta_order,
                        self.delta_opts.delta_window,
                        self.delta_opts.truncate,
                    )
            except InputError as error:
                raise InputError(f"{self.name}: utterance {key}: {error}") from None
            if feats is None:
                self.num_errors += 1
                continue
            self.num_done += 1
            yield key, feats

    def _read(self) -> Iterator[tuple[str, Any]]:
        if self._spec.script:
            return self._scp.read(self._seed)
        return tables.read(self.feats_rspecifier, "matrix")

    @functools.cached_property
    def _scp(self) -> ScpTable:
        return ScpTable(self.feats_rspecifier, "matrix", allow_pipes=self.allow_pipes)

    @functools.cached_property
    def _speakers(self) -> Any:
        return None if self.utt2spk is None else open_table(self.utt2spk, "token")

    @functools.cached_property
    def _stats(self) -> Any:
        """Statistics by key, or those of all as one matrix."""
        assert self.cmvn is not None
        if _RSPECIFIER.match(self.cmvn):
            return open_table(self.cmvn, "matrix", double=True)
        return tables.read_object(self.cmvn, "matrix", double=True)

    def _normalise(
        self, key: str, feats: NDArray[np.float32]
    ) -> NDArray[np.float32] | None:
        """The features after CMVN; None if there are no statistics for them."""
        if self.cmvn is None or not self.cmvn_opts.norm_means:
            return feats
        stats = self._stats
        if not isinstance(stats, np.ndarray):
            speaker = key
            if self._speakers is not None:
                if key not in self._speakers:
                    _LOG.warning("%s, no speaker in %s", key, self.utt2spk)
                    return None
                speaker = self._speakers[key]
            if speaker not in stats:
                _LOG.warning("%s, no cmvn statistics of %s", key, speaker)
                return None
            stats = stats[speaker]
        options = self.cmvn_opts
        return cmvn_step.apply(
            feats,
            stats,
            options.norm_means,
            options.norm_vars,
            options.reverse,
            options.skip_dims,
        )


def _is_file(name: str) -> bool:
    """Whether it is a file and not a stream that runs dry."""
    if name in ("", "-") or "|" in name:
        return False
    return not os.path.exists(name) or os.path.isfile(name)
