"""PyTorch at arm's length: its import, its devices, its random state, its weights as arrays."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

MISSING = "deep models need PyTorch, which is not installed: pip install pellucid[deep]"
SMALL_WORK = 200_000_000  # multiply-adds of a batch below which a second thread costs more


def require_torch() -> Any:
    """The torch module, or one sentence that says how to get it."""
    try:
        import torch
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise ImportError(MISSING) from error
    return torch


def find_device(name: str) -> Any:
    """The torch device of a ``device=`` parameter."""
    torch = require_torch()
    cuda = torch.cuda.is_available()
    if name == "auto":
        name = "cuda" if cuda else "cpu"
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise ValueError(f"device must be 'auto', 'cpu' or 'cuda', got {name!r}") from error
    if device.type == "cuda" and not cuda:
        raise ValueError(f"device={name!r} was asked for, but PyTorch finds no CUDA device here")
    return device


@contextmanager
def one_session(device: Any, seed: int | None, work: float) -> Iterator[None]:
    """A seeded stretch of PyTorch that leaves its global random state and threads as they were.

    ``seed`` None: nothing random happens inside. Little ``work`` gets one thread.
    """
    torch = require_torch()
    threads = torch.get_num_threads()
    index = torch.cuda.current_device() if device.type == "cuda" else 0
    devices = [device.index or index] if device.type == "cuda" else []
    try:
        if work < SMALL_WORK:
            torch.set_num_threads(1)
        with torch.random.fork_rng(devices=devices, enabled=seed is not None):
            if seed is not None:
                torch.default_generator.manual_seed(seed)
                for one in devices:
                    torch.cuda.default_generators[one].manual_seed(seed)
            yield
    finally:
        if work < SMALL_WORK:
            torch.set_num_threads(threads)


def weights_of(module: Any) -> dict[str, np.ndarray]:
    """The state of a module as plain float32 arrays, by name."""
    return to_arrays(module.state_dict())


def to_arrays(state: dict[str, Any]) -> dict[str, np.ndarray]:
    """A state of tensors as arrays that share no memory with them."""
    torch = require_torch()

    def array(tensor: Any) -> np.ndarray:
        tensor = tensor.detach().cpu()
        tensor = tensor.to(torch.float32) if tensor.is_floating_point() else tensor
        return np.array(tensor.numpy(), order="C")

    return {name: array(tensor) for name, tensor in state.items()}


def load_weights(module: Any, weights: dict[str, np.ndarray]) -> Any:
    """The module with these weights; ValueError when names or shapes differ."""
    torch = require_torch()
    expected = {name: tuple(tensor.shape) for name, tensor in module.state_dict().items()}
    found = {name: np.shape(array) for name, array in weights.items()}
    if expected != found:
        wrong = sorted(n for n in expected.keys() | found if expected.get(n) != found.get(n))
        raise ValueError(f"weights_ does not fit the network: {', '.join(wrong[:3])}")
    module.load_state_dict({name: torch.from_numpy(np.array(a)) for name, a in weights.items()})
    return module


def all_finite(state: dict[str, Any]) -> bool:
    """No weight is NaN or infinite."""
    return all(bool(tensor.isfinite().all()) for tensor in state.values())


def count_weights(module: Any) -> int:
    """Numbers that are learned."""
    return sum(p.numel() for p in module.parameters() if p.requires_grad)


def check_precision(precision: str, device: Any) -> None:
    """Refuse low precision off the GPU: some processors stop the whole program there."""
    if precision != "float32" and device.type != "cuda":
        raise ValueError(f"precision={precision!r} needs a CUDA device, got device {device.type!r}")


def make_solver(module: Any, training: Any, device: Any, **extra: Any) -> Any:
    """The optimiser of a ``Training``, in one fused kernel where the device has it."""
    optim = require_torch().optim
    kinds = {
        "adam": (optim.Adam, {}),
        "adamw": (optim.AdamW, {}),
        "sgd": (optim.SGD, {"momentum": 0.9, "nesterov": True}),
        "rmsprop": (optim.RMSprop, {}),
        "adagrad": (optim.Adagrad, {}),
    }
    kind, options = kinds[training.solver]
    fused = training.solver != "rmsprop" and not (
        training.solver == "adagrad" and device.type != "cpu"
    )
    options = {**options, **extra, **({"fused": True} if fused else {})}
    return kind(
        module.parameters(),
        lr=training.learning_rate,
        weight_decay=training.weight_decay,
        **options,
    )
