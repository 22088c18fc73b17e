"""The peer: a language model in plain PyTorch, word ids from a cache; prints its work.

python benchmarks/torch_language.py CACHE [--reset] [--bfloat16] [--updates N]

Word vectors, two LSTMs, NCE with the noise of a time step shared by its rows. Of the
tables only rows that a step uses are gathered, differentiated, counted in the norm and
updated. With `--reset` the state is emptied between sentences, which `nn.LSTM` cannot
do: steps are written out, with all inputs projected at once. Of the ways tried on one
core this was the fastest: `lstm_cell` came close, as did `nn.LSTM` over sentences
sorted into eight lengths, whose cells at the end are not to be had; packed sequences
took 2.5 times as long, TorchScript twice.
"""

import argparse
import dataclasses

import alternate
import numpy as np
import torch
from torch.nn import functional

from seqzoo.datasets import gbw_cache
from seqzoo.datasets.multi_sequence import MultiSequence


@dataclasses.dataclass(frozen=True)
class Noise:
    """Words drawn by their counts, by the alias method; ids from 0."""

    keep: torch.Tensor
    other: torch.Tensor
    logs: torch.Tensor
    """Logarithms of the probabilities."""

    @classmethod
    def of(cls, counts: np.ndarray) -> "Noise":
        probs = counts / counts.sum()
        keep = (probs * len(probs)).tolist()
        other = list(range(len(keep)))
        small = [i for i, share in enumerate(keep) if share < 1]
        large = [i for i, share in enumerate(keep) if share >= 1]
        while small and large:
            poor, rich = small.pop(), large[-1]
            other[poor] = rich
            keep[rich] -= 1 - keep[poor]
            if keep[rich] < 1:
                small.append(large.pop())
        return cls(
            torch.tensor(keep, dtype=torch.float32),
            torch.tensor(other),
            torch.from_numpy(np.log(np.maximum(probs, 1e-30))).float(),
        )

    def draw(self, *shape: int) -> torch.Tensor:
        column = torch.randint(len(self.keep), shape)
        kept = torch.rand(shape) < self.keep[column]
        return torch.where(kept, column, self.other[column])


class Peer:
    """Trains and scores.

    Args:
        counts: of the words of ids 1 and up.
        dim: width of all layers, two of them recurrent.
        k: noise words a time step.
        reset: whether id 0 empties the state.
        bfloat16: whether products are computed in it, by autocast.
    """

    def __init__(
        self,
        counts: np.ndarray,
        dim: int = 250,
        k: int = 400,
        reset: bool = False,
        bfloat16: bool = False,
        rate: float = 0.05,
        momentum: float = 0.9,
        cutoff: float = 10.0,
    ):
        words = len(counts)
        self.noise, self.k = Noise.of(counts), k
        self.reset, self.bfloat16 = reset, bfloat16
        self.rate, self.cutoff = rate, cutoff
        # Row 0 stands between sentences: it stays 0.
        self.vectors = torch.empty(words + 1, dim).uniform_(-0.1, 0.1)
        self.vectors[0] = 0
        self.linearity = torch.empty(words, dim).uniform_(-(dim**-0.5), dim**-0.5)
        self.bias = torch.full((words,), -float(np.log(words)))
        self.lstm = torch.nn.LSTM(dim, dim, num_layers=2)
        for name, weight in self.lstm.named_parameters():
            torch.nn.init.uniform_(weight, -0.1, 0.1)
            if name.startswith("bias_hh"):
                # One bias is enough.
                torch.nn.init.zeros_(weight).requires_grad_(False)
        self.dense = [w for w in self.lstm.parameters() if w.requires_grad]
        # Torch7's momentum: the first step's whole gradient, then a tenth of each.
        self.optimizer = torch.optim.SGD(
            self.dense, rate, momentum=momentum, dampening=momentum, foreach=True
        )

    def zero_state(self, columns: int) -> tuple[torch.Tensor, torch.Tensor]:
        zeros = torch.zeros(2, columns, self.lstm.hidden_size)
        return zeros, zeros

    def losses(self, words, targets, vectors, linearity, bias, state, noise):
        """The loss of a chunk: means over words of a time step, summed over steps.

        Args:
            words: (time, columns), places in `vectors`; 0 is the one of zeros.
            targets: (time, columns), ids from 1; 0 is none.
            vectors: (.., dim), rows in use.
            linearity, bias: of targets (time, columns, ..) and noise (time, k, ..).
            state: before it.
            noise: (time, k) ids from 0.

        Returns:
            The loss and the state after it.
        """
        real = targets != 0
        ids = targets.clamp(min=1) - 1
        with torch.autocast("cpu", torch.bfloat16, enabled=self.bfloat16):
            hidden, state = self.run(functional.embedding(words, vectors), state, real)
            of_noise = torch.bmm(hidden, linearity[1].transpose(1, 2))
        of_noise = of_noise.float() + bias[1][:, None]
        of_targets = (hidden.float() * linearity[0]).sum(-1) + bias[0]
        logs = self.noise.logs + float(np.log(self.k))
        losses = functional.softplus(logs[ids] - of_targets)
        losses = losses + functional.softplus(of_noise - logs[noise][:, None]).sum(-1)
        means = (losses * real).sum(1) / real.sum(1).clamp(min=1)
        return means.sum(), state

    def run(self, inputs, state, real):
        """The outputs of the last LSTM and the state after."""
        if not self.reset:
            outputs, state = self.lstm(inputs, state)
            return outputs, tuple(part.detach() for part in state)
        kept = real[..., None].float().unbind()
        after = []
        for layer, (h, c) in enumerate(zip(*state, strict=True)):
            of_inputs, recurrent, bias = (
                getattr(self.lstm, f"{name}_l{layer}")
                for name in ("weight_ih", "weight_hh", "bias_ih")
            )
            columns, outputs = recurrent.t(), []
            projected = functional.linear(inputs, of_inputs, bias)
            for x, here in zip(projected.unbind(), kept, strict=True):
                i, f, g, o = torch.addmm(x, h, columns).chunk(4, 1)
                c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
                h, c = torch.sigmoid(o) * torch.tanh(c) * here, c * here
                outputs.append(h)
            inputs = torch.stack(outputs)
            after.append((h.detach(), c.detach()))
        h, c = zip(*after, strict=True)
        return inputs, (torch.stack(h).float(), torch.stack(c).float())

    def update(self, words, targets, state, noise=None):
        """One step; returns the loss and the state after."""
        if noise is None:
            noise = self.noise.draw(len(words), self.k)
        with torch.no_grad():
            own, places = torch.unique(words, return_inverse=True)
            ids = targets.clamp(min=1) - 1
            both = torch.cat([ids.flatten(), noise.flatten()])
            used, where = torch.unique(both, return_inverse=True)
        vectors, linearity, bias = (
            table[rows].requires_grad_()
            for table, rows in (
                (self.vectors, own),
                (self.linearity, used),
                (self.bias, used),
            )
        )
        where = where.split([ids.numel(), noise.numel()])
        shaped = [where[0].view_as(ids), where[1].view_as(noise)]
        loss, state = self.losses(
            places,
            targets,
            vectors,
            [functional.embedding(place, linearity) for place in shaped],
            [bias[place] for place in shaped],
            state,
            noise,
        )
        loss.backward()
        if own[0] == 0:
            vectors.grad[0] = 0
        with torch.no_grad():
            self._descend(
                [
                    (self.vectors, own, vectors.grad),
                    (self.linearity, used, linearity.grad),
                    (self.bias, used, bias.grad),
                ]
            )
        return loss.item(), state

    def _descend(self, rows) -> None:
        gradients = [weight.grad for weight in self.dense]
        gradients += [gradient for _, _, gradient in rows]
        norms = torch._foreach_norm(gradients)
        norm = torch.linalg.vector_norm(torch.stack(norms)).item()
        scale = min(1.0, self.cutoff / max(norm, 1e-12)) if self.cutoff > 0 else 1.0
        if scale < 1:
            torch._foreach_mul_([weight.grad for weight in self.dense], scale)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        for table, ids, gradient in rows:
            table.index_add_(0, ids, gradient, alpha=-self.rate * scale)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("cache")
    parser.add_argument("--reset", action="store_true")
    parser.add_argument("--bfloat16", action="store_true")
    parser.add_argument("--updates", type=int, default=20)
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    torch.set_num_interop_threads(1)
    torch.manual_seed(0)
    cache = gbw_cache.load(given.cache)
    peer = Peer(cache.vocabulary.counts, reset=given.reset, bfloat16=given.bfloat16)
    streams = MultiSequence(cache.sets["train"], 128)
    state = peer.zero_state(streams.columns)

    def train(updates: int) -> float:
        nonlocal state
        total = words = 0
        for _ in range(updates):
            chunk = streams.sub(50)
            inputs, targets = map(torch.from_numpy, (chunk.inputs, chunk.targets))
            loss, state = peer.update(inputs.long(), targets.long(), state)
            total += loss
            words += inputs.numel()
        return words

    train(2)  # Memory is taken and kernels are chosen here.
    alternate.report(alternate.timed(lambda: train(given.updates)))


if __name__ == "__main__":
    main()
