"""CD-1 steps of one RBM: ours, PyTorch's, and nnet1's sequence of BLAS calls, in turns.

440-2048 with Gaussian inputs and 2048-2048 with binary ones, minibatch 100, float32,
one thread; ours in bfloat16 too. There is no recorded rate of nnet1's
rbm-train-cd1-frmshuff. The third rival stands for it: the same products by OpenBLAS
(SciPy's), with momentum inside them as there, and NumPy for the rest, whose vectorised
exponential and random numbers are quicker than nnet1's loops over single numbers. So it
is a bound from above on what nnet1 can reach with that BLAS; without SciPy it is left
out. All stay in memory, so that a machine whose speed changes treats them alike.
"""

import importlib.util
import sys

import alternate
import rivals

CASES = {"gauss": (440, 2048), "bern": (2048, 2048)}
MINIBATCH, MINIBATCHES = 100, 20
FRAMES = MINIBATCH * MINIBATCHES
MOMENTUM, L2 = 0.9, 0.0002
RATES = {"gauss": 0.001, "bern": 0.04}


def main() -> None:
    options = alternate.options(__doc__)
    rounds = 3 if options.quick else max(options.rounds, 12)
    names = ["ours", "ours, bfloat16", "PyTorch"]
    if importlib.util.find_spec("scipy"):
        names.append("nnet1's calls, OpenBLAS")
    report = alternate.Report("train_rbm", options)
    for visible_type, (visible, hidden) in CASES.items():
        rivals.compare(
            report,
            f"RBM {visible}-{hidden}, {visible_type} inputs, 1 thread",
            {
                name: rivals.Rival(__file__, "--serve", name, visible_type)
                for name in names
            },
            rounds,
        )


def _data(visible_type: str):
    import numpy as np

    visible, hidden = CASES[visible_type]
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((FRAMES, visible), np.float32)
    if visible_type == "bern":
        rows = 1 / (1 + np.exp(-rows))
    weights = rng.standard_normal((hidden, visible), np.float32) * np.float32(0.01)
    return rows, weights


def _ours(visible_type: str, bfloat16: bool) -> None:
    import numpy as np
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    from seqzoo.zoo.checkpoints import components
    from seqzoo.zoo.training.rbm_ramp import RbmRamp
    from seqzoo.zoo.training.rbm_trainer import RbmTrainer, RbmTrainOptions

    rows, weights = _data(visible_type)
    hidden, visible = weights.shape
    biases = np.zeros(visible, np.float32), np.zeros(hidden, np.float32)
    rbm = components.Rbm(visible, hidden, visible_type, "bern", weights, *biases)
    ramp = RbmRamp(learn_rate=2 * RATES[visible_type])
    options = RbmTrainOptions(ramp=ramp, l2_penalty=L2, bfloat16=bfloat16)
    trainer = RbmTrainer(rbm, options)
    inputs = tf.constant(rows)

    def step() -> int:
        trainer.train(inputs, lambda line: None)
        return FRAMES

    rivals.serve(step)


def _torch(visible_type: str) -> None:
    import torch

    torch.set_num_threads(1)
    rows, w = map(torch.from_numpy, _data(visible_type))
    hidden, visible = w.shape
    b, c = torch.zeros(visible), torch.zeros(hidden)
    dw, db, dc = torch.zeros_like(w), torch.zeros_like(b), torch.zeros_like(c)
    gauss, rate = visible_type == "gauss", RATES[visible_type] / MINIBATCH
    decay = RATES[visible_type] * L2

    @torch.inference_mode()
    def step() -> int:
        errors = []
        for v in rows.split(MINIBATCH):
            h = torch.addmm(c, v, w.T).sigmoid_()
            states = (torch.rand_like(h) < h).float()
            nv = torch.addmm(b, states, w)
            if not gauss:
                nv.sigmoid_()
            nh = torch.addmm(c, nv, w.T).sigmoid_()
            errors.append((nv - v).square().sum())
            if gauss and 2 * v.std() < nv.std():
                raise SystemExit("exploded")
            both, signed = torch.cat([v, nv]), torch.cat([h, -nh])
            dw.addmm_(signed.T, both, beta=MOMENTUM, alpha=rate)
            dw.add_(w, alpha=-decay)
            w.add_(dw)
            for bias, change, d in ((b, v - nv, db), (c, h - nh, dc)):
                d.mul_(MOMENTUM).add_(change.sum(0), alpha=rate)
                bias.add_(d)
        torch.stack(errors).tolist()
        return FRAMES

    rivals.serve(step)


def _blas(visible_type: str) -> None:
    import numpy as np
    from scipy.linalg.blas import sgemm

    rows, w = _data(visible_type)
    hidden, visible = w.shape
    b, c = np.zeros(visible, np.float32), np.zeros(hidden, np.float32)
    dw, db, dc = np.zeros_like(w), np.zeros_like(b), np.zeros_like(c)
    gauss, rate = visible_type == "gauss", RATES[visible_type] / MINIBATCH
    rng = np.random.default_rng(1)
    momentum, decay = (
        np.float32(number) for number in (MOMENTUM, RATES[visible_type] * L2)
    )

    def sigmoid(x):
        np.negative(x, out=x)
        np.exp(x, out=x)
        x += np.float32(1)
        return np.reciprocal(x, out=x)

    def step() -> int:
        for start in range(0, FRAMES, MINIBATCH):
            v = rows[start : start + MINIBATCH]
            h = sigmoid(v @ w.T + c)
            states = (rng.random(h.shape, np.float32) < h).astype(np.float32)
            nv = states @ w + b
            if not gauss:
                sigmoid(nv)
            nh = sigmoid(nv @ w.T + c)
            ((nv - v) ** 2).sum()
            if gauss and 2 * v.std() < nv.std():
                raise SystemExit("exploded")
            # A row-major matrix is the transpose of BLAS's.
            for sign, up, down, beta in ((-1, nh, nv, momentum), (1, h, v, 1)):
                sgemm(
                    sign * rate, down.T, up.T, beta, dw.T, trans_b=1, overwrite_c=True
                )
            np.subtract(dw, decay * w, out=dw)
            np.add(w, dw, out=w)
            for bias, change, d in ((b, v - nv, db), (c, h - nh, dc)):
                d *= momentum
                d += np.float32(rate) * change.sum(0)
                bias += d
        return FRAMES

    rivals.serve(step)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        name, visible_type = sys.argv[2:]
        if name.startswith("ours"):
            _ours(visible_type, bfloat16="bfloat16" in name)
        else:
            {"PyTorch": _torch}.get(name, _blas)(visible_type)
    else:
        main()
