"""Posteriors: for each frame, some class ids with their weights."""

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from seqzoo.datasets import number_text
from seqzoo.datasets.kaldi_objects import ObjectReader

_RECORD = np.dtype([("size", "i1"), ("value", "<i4")])


@dataclasses.dataclass(frozen=True, eq=False)
class Posterior:
    """The pairs of all frames in a row; frame `t` has `offsets[t]:offsets[t + 1]`."""

    offsets: np.ndarray
    """`(frames + 1,)` int64, from 0."""
    indices: np.ndarray
    """`(pairs,)` int32, class ids."""
    values: np.ndarray
    """`(pairs,)` float32, weights."""

    @classmethod
    def from_frames(cls, frames: Iterable[Sequence[tuple[int, float]]]) -> "Posterior":
        """From a list of `(id, weight)` pairs for each frame."""
        listed = [list(frame) for frame in frames]
        offsets = np.zeros(len(listed) + 1, np.int64)
        np.cumsum([len(frame) for frame in listed], out=offsets[1:])
        pairs = [pair for frame in listed for pair in frame]
        indices = np.array([pair[0] for pair in pairs], np.int32)
        return cls(offsets, indices, np.array([pair[1] for pair in pairs], np.float32))

    @classmethod
    def from_labels(cls, labels: Any) -> "Posterior":
        """One class a frame, with weight 1."""
        indices = np.asarray(labels, np.int32)
        offsets = np.arange(len(indices) + 1, dtype=np.int64)
        return cls(offsets, indices, np.ones(len(indices), np.float32))

    def __len__(self) -> int:
        """The number of frames."""
        return len(self.offsets) - 1

    def __getitem__(self, frames: slice) -> "Posterior":
        """Some frames, `posterior[3:8]`."""
        if not isinstance(frames, slice):
            raise TypeError("Slice a Posterior by frames: posterior[t : t + 1].")
        first, last, step = frames.indices(len(self))
        if step != 1:
            raise ValueError(f"Posterior frames are sliced in steps of 1, not {step}.")
        last = max(first, last)
        begin, end = self.offsets[first], self.offsets[last]
        return Posterior(
            self.offsets[first : last + 1] - begin,
            self.indices[begin:end],
            self.values[begin:end],
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Posterior) and all(
            np.array_equal(getattr(self, field), getattr(other, field))
            for field in ("offsets", "indices", "values")
        )

    __hash__ = None  # type: ignore[assignment]

    def frames(self) -> list[list[tuple[int, float]]]:
        """A list of `(id, weight)` pairs for each frame."""
        pairs = list(zip(self.indices.tolist(), self.values.tolist(), strict=True))
        ends = self.offsets.tolist()
        return [pairs[a:b] for a, b in zip(ends[:-1], ends[1:], strict=True)]

    def to_dense(self, dim: int) -> np.ndarray:
        """`(frames, dim)` float32; of a class named twice, the last weight wins.

        Raises:
            ValueError: if a class id is not in `0 <= id < dim`.
        """
        wrong = (self.indices < 0) | (self.indices >= dim)
        if wrong.any():
            at = int(wrong.argmax())
            frame = int(np.searchsorted(self.offsets, at, "right")) - 1
            raise ValueError(
                f"Frame {frame} has class {self.indices[at]}, "
                f"but there are {dim} classes, 0 to {dim - 1}."
            )
        dense = np.zeros((len(self), dim), np.float32)
        rows = np.repeat(np.arange(len(self)), np.diff(self.offsets))
        dense[rows, self.indices] = self.values
        return dense


def read(reader: ObjectReader) -> Posterior:
    """The posterior that stands next in a table."""
    return _read_binary(reader) if reader.binary else _read_text(reader)


def _read_binary(reader: ObjectReader) -> Posterior:
    source, at = reader.bytes, reader.offset
    frames = reader.read_int32()
    if frames < 0:
        reader.fail(f"a posterior of {frames} frames; it is damaged.", at)
    what = f"a posterior of {frames} frames"
    source.check(5 * frames, what)
    # Everything is an integer or a float behind its size byte: 5-byte records.
    counts: list[int] = []
    records, known = 0, 3 * frames
    while len(counts) < frames:
        window, pos = source.window(5 * known)
        known = min(known, (len(window) - pos) // 5)
        numbers = np.frombuffer(window, _RECORD, known, pos)["value"]
        if not counts and known == 3 * frames and (numbers[::3] == 1).all():
            counts, records = [1] * frames, known  # One class a frame.
            break
        listed = numbers.tolist()
        while records < known and len(counts) < frames:
            count = listed[records]
            if count < 0:
                reader.fail(f"frame {len(counts)} of {what} is damaged.", at)
            counts.append(count)
            records += 1 + 2 * count
        if len(counts) < frames:
            source.check(5 * (records + frames - len(counts)), what)
            if known < 3 * frames and known <= len(counts):
                reader.fail(f"{what} ends after {len(counts)}; the file is cut short.")
            known = max(2 * known, records + 3 * (frames - len(counts)))
    table = np.frombuffer(source.take(5 * records, what), _RECORD)
    if (table["size"] != 4).any():
        reader.fail(f"{what} holds numbers that are not int32 and float.", at)
    offsets = np.zeros(frames + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    heads = 2 * offsets[:-1] + np.arange(frames)
    body = np.ones(records, bool)
    body[heads] = False
    pairs = table["value"][body].reshape(-1, 2)
    indices = np.ascontiguousarray(pairs[:, 0])
    return Posterior(offsets, indices, np.ascontiguousarray(pairs[:, 1]).view("<f4"))


def _read_text(reader: ObjectReader) -> Posterior:
    at = reader.offset
    words = reader.bytes.line().replace(b"[", b" [ ").replace(b"]", b" ] ").split()
    counts: list[int] = []
    ids: list[bytes] = []
    weights: list[bytes] = []
    place = 0
    while place < len(words):
        if words[place] != b"[":
            reader.fail(
                f"expected [ ID WEIGHT ... ] for each frame, found {words[place]!r}.",
                at,
            )
        try:
            end = words.index(b"]", place)
        except ValueError:
            reader.fail("a frame of the posterior has no closing ].", at)
        inside = words[place + 1 : end]
        if len(inside) % 2:
            reader.fail(
                f"frame {len(counts)} of the posterior has {len(inside)} numbers; "
                "they come in pairs, ID WEIGHT.",
                at,
            )
        counts.append(len(inside) // 2)
        ids += inside[::2]
        weights += inside[1::2]
        place = end + 1
    offsets = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    try:
        indices = number_text.parse_ints(ids)
        values = number_text.parse_floats(weights, np.float32)
    except ValueError as error:
        reader.fail(f"expected ID WEIGHT pairs, found {error} among them.", at)
    return Posterior(offsets, indices, values)


def to_bytes(posterior: Posterior, binary: bool) -> bytes:
    """The posterior as a table holds it."""
    if not binary:
        text = "".join(
            "[ " + "".join(f"{index} {value:.7g} " for index, value in frame) + "] "
            for frame in posterior.frames()
        )
        return text.encode() + b"\n"
    frames, pairs = len(posterior), len(posterior.indices)
    table = np.empty(1 + frames + 2 * pairs, _RECORD)
    table["size"] = 4
    table["value"][0] = frames
    heads = 1 + 2 * posterior.offsets[:-1] + np.arange(frames)
    table["value"][heads] = np.diff(posterior.offsets)
    body = np.ones(len(table), bool)
    body[heads] = False
    body[0] = False
    weights = posterior.values.astype("<f4").view("<i4")
    table["value"][body] = np.stack([posterior.indices, weights], 1).ravel()
    return table.tobytes()
