"""The peer: a sigmoid DNN in plain PyTorch, data in memory; prints its work.

python benchmarks/torch_dnn.py train 440-6x2048-3370 THREADS FRAMES [bfloat16]
"""

import contextlib
import sys

import alternate
import torch


def build(shape: str) -> torch.nn.Sequential:
    """`440-6x2048-3370`: inputs, hidden layers, outputs."""
    inputs, hidden, outputs = shape.split("-")
    count, width = map(int, hidden.split("x"))
    dims = [int(inputs), *[width] * count]
    body: list[torch.nn.Module] = []
    for before, after in zip(dims[:-1], dims[1:], strict=True):
        body += [torch.nn.Linear(before, after), torch.nn.Sigmoid()]
    return torch.nn.Sequential(*body, torch.nn.Linear(width, int(outputs)))


def main(task: str, shape: str, threads: int, frames: int, bfloat16: bool) -> None:
    torch.set_num_threads(threads)
    torch.set_num_interop_threads(1)
    torch.manual_seed(0)
    net = build(shape)
    dims = shape.split("-")
    inputs = torch.randn(frames, int(dims[0]))
    labels = torch.randint(0, int(dims[-1]), (frames,))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.008 / 256, fused=True)

    def low() -> contextlib.AbstractContextManager:
        return torch.autocast("cpu", torch.bfloat16, enabled=bfloat16)

    def train() -> float:
        order = torch.randperm(frames)
        total = 0.0
        for start in range(0, frames, 256):
            some = order[start : start + 256]
            with low():
                logits = net(inputs[some])
                loss = torch.nn.functional.cross_entropy(
                    logits, labels[some], reduction="sum"
                )
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            total += loss.item()
        return frames

    def forward() -> float:
        with torch.inference_mode(), low():
            for start in range(0, frames, 2048):
                torch.softmax(net(inputs[start : start + 2048]).float(), dim=1)
        return frames

    once = train if task == "train" else forward
    once()  # Memory is taken and kernels are chosen here.
    alternate.report(alternate.timed(once))


if __name__ == "__main__":
    main(
        sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), len(sys.argv) > 5
    )
