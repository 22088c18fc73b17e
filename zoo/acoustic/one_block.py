"""One language of a network that has a block of outputs for each."""

from collections.abc import Sequence

from seqzoo.datasets.errors import InputError
from seqzoo.zoo.checkpoints import components
from seqzoo.zoo.checkpoints.nnet1 import Nnet


def number(
    block: str, names: Sequence[str], blocks: int, name: str = "the network"
) -> int:
    """Which block is meant, from 1.

    Args:
        block: a name or a number.
        names: of the blocks, if they have any.
        blocks: how many there are.
        name: of the network, for errors.

    Raises:
        InputError: neither a name nor a number of one.
    """
    if block in names:
        return names.index(block) + 1
    if block.isdecimal() and 1 <= int(block) <= blocks:
        return int(block)
    taken = ", ".join(names) if names else f"1 to {blocks}"
    raise InputError(f"{name}: has no block {block!r}; {taken} are taken.")


def dims(nnet: Nnet, name: str = "the network") -> list[int]:
    """The widths of the blocks at a network's end.

    Raises:
        InputError: it does not end in a block softmax.
    """
    last = nnet.components[-1]
    if not isinstance(last, components.BlockSoftmax):
        raise InputError(
            f"{name}: ends in {last.marker}; only of <BlockSoftmax> a block can be "
            "chosen."
        )
    return list(last.block_dims)


def select(nnet: Nnet, block: int) -> Nnet:
    """The network with the softmax of one block alone, as decode.sh makes it.

    Its `<BlockSoftmax>` gives way to a `<Copy>` of the block's columns and a
    `<Softmax>`.

    Args:
        nnet: ends in a block softmax; it is left as it is.
        block: from 1.

    Raises:
        InputError: it ends in something else.
    """
    widths = dims(nnet)
    start, width = sum(widths[: block - 1]), widths[block - 1]
    total = nnet.components[-1].input_dim
    columns = list(range(start, start + width))
    return Nnet(
        [
            *nnet.components[:-1],
            components.Copy(total, width, columns),
            components.Softmax(width, width),
        ]
    )
