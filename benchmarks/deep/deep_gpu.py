"""Deep models on one device: rows per second, and the share of the device's own matmul speed.

    python -m benchmarks.deep.deep_gpu [--device cuda] [--quick]

needs PyTorch, NumPy, SciPy and scikit-learn only. Every model is trained through its estimator on
made-up data. For the convolution and the transformer the multiply-adds of a training step are
counted by PyTorch, and compared with the best matmul of the same precision on the same device,
measured just before. A step is a whole update: forward, backward, solver.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "src"))

CASES: list = []  # a script of its own: no case of the common harness
PRECISIONS = {"cpu": ("float32",), "cuda": ("float32", "bfloat16")}


def now(device):
    import torch

    if device == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter()


def matmul_ceiling(device, precision, quick):
    """The best FLOP/s of a square matmul."""
    import torch

    best = 0.0
    for n in (512, 1024) if device == "cpu" or quick else (4096, 8192):
        a = torch.randn(n, n, device=device, dtype=getattr(torch, precision))
        b = torch.randn(n, n, device=device, dtype=getattr(torch, precision))
        repeats = 5 if device == "cpu" else 20
        for _ in range(3):
            a @ b
        began = now(device)
        for _ in range(repeats):
            a @ b
        best = max(best, repeats * 2 * n**3 / (now(device) - began))
    return best


def fit_rate(model, *data, rows):
    """Rows per second of the epochs after the first, which warms up."""
    model.fit(*data)
    seconds = np.diff(model.history_["seconds"])
    return rows / float(np.median(seconds[1:] if len(seconds) > 1 else seconds))


def step_speed(make_module, inputs, target, device, precision, steps):
    """(rows/s, FLOP/s) of whole updates by the package's own trainer, data on the device."""
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    from pellucid.deep.loop import Trainer, accuracy, class_loss, place
    from pellucid.deep.training import Training

    torch.manual_seed(0)
    module = make_module().to(device)
    data = place(inputs, target, np.ones(len(target)), torch.device(device))
    training = Training(batch_size=len(target), device=device, precision=precision)
    trainer = Trainer(module, data, class_loss, accuracy, training)
    module.train()
    with FlopCounterMode(display=False) as counter:
        trainer.update(data)
    for _ in range(3):
        trainer.update(data)
    began = now(device)
    for _ in range(steps):
        trainer.update(data)
    seconds = (now(device) - began) / steps
    return len(target) / seconds, counter.get_total_flops() / seconds


def convolution_step(device, precision, quick):
    from pellucid.deep.convolution.convolution_module import ConvolutionModule

    rng = np.random.default_rng(0)
    n, side, channels = (32, 16, (16, 32)) if quick else (512, 64, (128, 256, 512))
    X = rng.normal(size=(n, 3, side, side)).astype(np.float32)
    y = rng.integers(10, size=n)
    return step_speed(
        lambda: ConvolutionModule((3, side, side), channels, 3, 2, "max", (256,), 10),
        (X,), y, device, precision, 3 if quick else 20,
    )  # fmt: skip


def transformer_step(device, precision, quick):
    from pellucid.deep.transformers.transformer_module import ClassifierModule, Encoder

    rng = np.random.default_rng(0)
    n, length, d, layers = (8, 32, 64, 2) if quick else (64, 512, 1024, 8)
    X = rng.integers(4, 1000, size=(n, length))
    heads = max(1, d // 64)
    return step_speed(
        lambda: ClassifierModule(Encoder(1000, True, d, heads, layers, 4 * d, 0.0, length), d, 10),
        (X, np.full(n, length)), rng.integers(10, size=n), device, precision, 3 if quick else 20,
    )  # fmt: skip


def estimator_rates(device, quick):
    """(name, rows/s) of every estimator, through fit."""
    from pellucid.deep import (
        ConvolutionalClassifier,
        ConvolutionalRegressor,
        GenerativeAdversarialNetwork,
        GraphNeuralNetworkClassifier,
        RecurrentClassifier,
        RecurrentRegressor,
        Training,
        TransformerClassifier,
        TransformerSequenceModel,
    )

    rng = np.random.default_rng(0)
    n = 256 if quick else 8192
    training = Training(batch_size=64 if quick else 1024, max_epochs=3, device=device)
    kind = {"training": training, "random_state": 0}
    images, series = rng.normal(size=(n, 16, 16)), rng.normal(size=(n, 32, 8))
    labels, numbers = rng.integers(3, size=n), rng.normal(size=n)
    words = [row.tolist() for row in rng.integers(50, size=(n, 12))]
    ring = np.roll(np.eye(10), 1, axis=1) + np.roll(np.eye(10), -1, axis=1)
    graphs = [(ring, rng.normal(size=(10, 4))) for _ in range(n)]
    jobs = [
        (ConvolutionalClassifier(**kind), images, labels),
        (ConvolutionalRegressor(**kind), images, numbers),
        (RecurrentClassifier(**kind), series, labels),
        (RecurrentRegressor(**kind), series, numbers),
        (TransformerClassifier(**kind), series, labels),
        (TransformerSequenceModel(**kind), words, words),
        (GenerativeAdversarialNetwork(**kind), images.reshape(n, -1)),
        (GraphNeuralNetworkClassifier(**kind), graphs, labels),
    ]
    for model, *data in jobs:
        yield type(model).__name__, fit_rate(model, *data, rows=n)


OURS = (estimator_rates,)


def q_rate(device, quick):
    """Updates per second of a QNetwork with batches of 64."""
    from pellucid.deep import QNetwork, Training

    rng = np.random.default_rng(0)
    q = QNetwork(4, training=Training(device=device), random_state=0)
    states, actions, targets = rng.normal(size=(64, 8)), rng.integers(4, size=64), np.ones(64)
    repeats = 20 if quick else 500
    q.update(states, actions, targets)
    began = now(device)
    for _ in range(repeats):
        q.update(states, actions, targets)
    return repeats * 64 / (now(device) - began)


def main(device, quick):
    import torch

    device = ("cuda" if torch.cuda.is_available() else "cpu") if device == "auto" else device
    name = (
        torch.cuda.get_device_name()
        if device == "cuda"
        else f"CPU, {torch.get_num_threads()} threads"
    )
    print(f"Device: {name}; PyTorch {torch.__version__}\n")
    print("| step | precision | rows/s | TFLOP/s | matmul TFLOP/s | share |")
    print("|---|---|---:|---:|---:|---:|")
    for precision in PRECISIONS[device]:
        ceiling = matmul_ceiling(device, precision, quick)
        for label, step in (("convolution", convolution_step), ("transformer", transformer_step)):
            rate, flops = step(device, precision, quick)
            print(
                f"| {label} | {precision} | {rate:,.0f} | {flops / 1e12:.3f} | "
                f"{ceiling / 1e12:.3f} | {flops / ceiling:.0%} |"
            )
    print("\n| model, through fit, float32 | rows/s |\n|---|---:|")
    for label, rate in estimator_rates(device, quick):
        print(f"| {label} | {rate:,.0f} |")
    print(f"| QNetwork, updates of 64 rows | {q_rate(device, quick):,.0f} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="auto", choices=("auto", "cpu", "cuda"))
    parser.add_argument("--quick", action="store_true", help="small sizes, to try the script")
    options = parser.parse_args()
    main(options.device, options.quick)
