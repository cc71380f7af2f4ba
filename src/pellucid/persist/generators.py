"""The state of NumPy's random generators, checked number by number.

NumPy trusts the state it is given (a wrong position in the Mersenne Twister reads beyond its
table), so every field is compared with its exact kind, shape and range before it is set.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from pellucid.persist.format import ModelFileError, brief


class Whole(NamedTuple):
    """A whole number from 0 to ``high``, both included."""

    high: int

    def accepts(self, value: object) -> bool:
        return type(value) is int and 0 <= value <= self.high


class Words(NamedTuple):
    """An array of machine words."""

    dtype: str
    size: int

    def accepts(self, value: object) -> bool:
        if not isinstance(value, np.ndarray):
            return False
        return value.dtype == np.dtype(self.dtype) and value.shape == (self.size,)


class Real(NamedTuple):
    """A floating-point number."""

    def accepts(self, value: object) -> bool:
        return type(value) is float


HALF_WORD = {"has_uint32": Whole(1), "uinteger": Whole(2**32 - 1)}
PCG = {"state": {"state": Whole(2**128 - 1), "inc": Whole(2**128 - 1)}, **HALF_WORD}
FIELDS: dict[str, dict[str, Any]] = {
    "MT19937": {"state": {"key": Words("u4", 624), "pos": Whole(624)}},
    "PCG64": PCG,
    "PCG64DXSM": PCG,
    "Philox": {
        "state": {"counter": Words("u8", 4), "key": Words("u8", 2)},
        "buffer": Words("u8", 4),
        "buffer_pos": Whole(4),
        **HALF_WORD,
    },
    "SFC64": {"state": {"state": Words("u8", 4)}, **HALF_WORD},
}
GAUSS = {"has_gauss": Whole(1), "gauss": Real()}
KINDS: dict[str, Callable[..., Any]] = {
    "MT19937": np.random.MT19937,
    "PCG64": np.random.PCG64,
    "PCG64DXSM": np.random.PCG64DXSM,
    "Philox": np.random.Philox,
    "SFC64": np.random.SFC64,
}


def generator_state(rng: Any) -> dict[str, Any] | None:
    """Plain values that ``make_generator`` turns back into the same generator, or None.

    >>> rng = np.random.default_rng(5)
    >>> twin = make_generator(generator_state(rng))
    >>> twin.random() == rng.random()
    True
    """
    legacy = isinstance(rng, np.random.RandomState)
    state = dict(rng.get_state(legacy=False) if legacy else rng.bit_generator.state)
    name = state.pop("bit_generator")
    if name not in KINDS:
        return None
    seed = None if legacy else rng.bit_generator.seed_seq
    if type(seed) is np.random.SeedSequence:
        words: Any = seed.entropy
        many = isinstance(words, Sequence | np.ndarray)
        entropy: Any = [int(word) for word in words] if many else int(words)
        seed = {**seed.state, "entropy": entropy}
    elif seed is not None:
        return None
    return {"legacy": legacy, "name": name, "state": state, "seed": seed}


def make_generator(stored: object) -> Any:
    """A RandomState or Generator from what ``generator_state`` returned."""
    if not isinstance(stored, dict) or set(stored) != {"legacy", "name", "state", "seed"}:
        raise ModelFileError("the state of a random generator is incomplete")
    legacy, name, state, seed = (stored[key] for key in ("legacy", "name", "state", "seed"))
    if type(legacy) is not bool or not isinstance(name, str) or name not in KINDS:
        raise ModelFileError(f"random generators of kind {brief(name)} are not known")
    _check_fields(state, FIELDS[name] | GAUSS if legacy else FIELDS[name], name)
    bits = KINDS[name](0 if seed is None else _seed_sequence(seed))
    if legacy:
        rng = np.random.RandomState(bits)
        rng.set_state({"bit_generator": name, **state})
        return rng
    bits.state = {"bit_generator": name, **state}
    return np.random.Generator(bits)


def _check_fields(found: object, expected: dict[str, Any], name: str) -> None:
    if not isinstance(found, dict) or set(found) != set(expected):
        raise ModelFileError(f"the state of a {name} random generator is incomplete")
    for key, kind in expected.items():
        if isinstance(kind, dict):
            _check_fields(found[key], kind, name)
        elif not kind.accepts(found[key]):
            raise ModelFileError(f"{key} of a {name} random generator is out of range")


def _seed_sequence(seed: object) -> np.random.SeedSequence:
    whole = Whole(2**4096)
    if isinstance(seed, dict) and set(seed) == {
        "entropy",
        "spawn_key",
        "pool_size",
        "n_children_spawned",
    }:
        entropy, keys = seed["entropy"], seed["spawn_key"]
        words = entropy if isinstance(entropy, list | tuple) else [entropy]
        fine = all(map(whole.accepts, words)) and isinstance(keys, tuple)
        fine = fine and all(map(Whole(2**32 - 1).accepts, keys))
        fine = fine and Whole(2**32 - 1).accepts(seed["n_children_spawned"])
        if fine and Whole(1024).accepts(seed["pool_size"]) and seed["pool_size"] >= 4:
            return np.random.SeedSequence(**seed)
    raise ModelFileError("the seed sequence of a random generator is out of range")
