"""What Numba does not find by itself: tiles of sums in registers, and asking for memory.

For blocks L and R of m rows, a tile keeps TILE_ROWS x (vectors x LANES) sums in registers,

    out[a + r, b + c] (+)= sum_i L[i, a + r] R[i, b + c]            (products)
    out[a + r, b + c]   =  sum_i (L[i, a + r] - R[i, b + c])^2      (distances)

so that each row costs a few loads and otherwise only fused multiply-adds. It is written in LLVM's
own terms: vectors of LANES doubles, which become AVX-512, AVX2 or NEON instructions as the
machine has them. Everything else in the project is plain Numba.
"""

from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

_AVX512 = bool(llvm.get_host_cpu_features().get("avx512f", False))
LANES = 8 if _AVX512 else 4  # doubles in a register
TILE_ROWS = 8 if _AVX512 else 4  # 3 x TILE_ROWS sums leave registers for the operands

_DOUBLE, _INT, _LANE = ir.DoubleType(), ir.IntType(64), ir.IntType(32)
_VECTOR = ir.VectorType(_DOUBLE, LANES)


def _tile(vectors: int, *, add: bool = False, distances: bool = False) -> Any:
    """A function tile(L, R, m, a, b, out) on ``vectors`` x LANES columns of R from b on."""

    @intrinsic
    def tile(typing_context, L, R, m, a, b, out):
        def generate(context, build, signature, arguments):
            places = []
            for k in (0, 1, 5):
                array = context.make_array(signature.args[k])(context, build, arguments[k])
                places.append((array.data, _columns(build, array)))
            _emit(build, places, arguments[2:5], vectors, add, distances)
            return context.get_dummy_value()

        return types.void(L, R, types.int64, types.int64, types.int64, out), generate

    return tile


def _emit(
    build: Any, arrays: list, numbers: list, vectors: int, add: bool, distances: bool
) -> None:
    """Write the loop over the rows i and the stores after it; arrays are (pointer, columns)."""
    (L, R, out), (m, a, b) = arrays, numbers
    before = build.block
    loop, store = (build.append_basic_block(name) for name in ("rows", "store"))
    build.branch(loop)
    build.position_at_end(loop)
    i = build.phi(_INT)
    i.add_incoming(_INT(0), before)
    sums = [[build.phi(_VECTOR) for _ in range(vectors)] for _ in range(TILE_ROWS)]
    left_row, right_row = (build.gep(x[0], [build.mul(i, x[1])]) for x in (L, R))
    right = [
        _load(build, build.gep(right_row, [_plus(build, b, v * LANES)])) for v in range(vectors)
    ]
    added = []
    for r in range(TILE_ROWS):
        left = _spread(build, build.load(build.gep(left_row, [_plus(build, a, r)])))
        pairs = [(left, x) for x in right]
        if distances:
            pairs = [(gap, gap) for gap in (build.fsub(left, x) for x in right)]
        products = [build.fmul(x, y, flags=["contract"]) for x, y in pairs]
        terms = zip(sums[r], products, strict=True)
        added.append([build.fadd(old, new, flags=["contract"]) for old, new in terms])
    following = build.add(i, _INT(1))
    i.add_incoming(following, loop)
    for old_row, new_row in zip(sums, added, strict=True):
        for old, new in zip(old_row, new_row, strict=True):
            old.add_incoming(_VECTOR([0.0] * LANES), before)
            old.add_incoming(new, loop)
    build.cbranch(build.icmp_signed("<", following, m), loop, store)

    build.position_at_end(store)
    for r, new_row in enumerate(added):
        for v, new in enumerate(new_row):
            offset = build.mul(_plus(build, a, r), out[1])
            place = build.gep(out[0], [build.add(offset, _plus(build, b, v * LANES))])
            place = build.bitcast(place, _VECTOR.as_pointer())
            value = build.fadd(build.load(place, align=8), new) if add else new
            build.store(value, place, align=8)


def _columns(build: Any, array: Any) -> Any:
    return build.extract_value(array.shape, 1)


def _plus(build: Any, number: Any, constant: int) -> Any:
    return build.add(number, _INT(constant))


def _load(build: Any, place: Any) -> Any:
    return build.load(build.bitcast(place, _VECTOR.as_pointer()), align=8)


def _spread(build: Any, number: Any) -> Any:
    """One number in every lane."""
    nothing = ir.Constant(_VECTOR, ir.Undefined)
    first = build.insert_element(nothing, number, _LANE(0))
    return build.shuffle_vector(first, nothing, ir.VectorType(_LANE, LANES)([0] * LANES))


add_tile_1, add_tile_2, add_tile_3 = (_tile(vectors, add=True) for vectors in (1, 2, 3))
set_tile_3 = _tile(3)  # three vectors fill the registers
distance_tile_2 = _tile(2, distances=True)


def _prefetch(typing_context, X, i, j):
    """Have the cache line of X[i, j] brought near; a place beyond the array is ignored."""

    def generate(context, build, signature, arguments):
        x_array, i, j = arguments
        X = context.make_array(signature.args[0])(context, build, x_array)
        place = build.gep(X.data, [build.add(build.mul(i, _columns(build, X)), j)])
        byte = ir.IntType(8).as_pointer()
        hint = build.module.declare_intrinsic(
            "llvm.prefetch", (byte,), ir.FunctionType(ir.VoidType(), [byte, _LANE, _LANE, _LANE])
        )
        build.call(
            hint, [build.bitcast(place, byte), _LANE(0), _LANE(2), _LANE(1)]
        )  # to read, second-level cache, data
        return context.get_dummy_value()

    return types.void(X, types.int64, types.int64), generate


prefetch: Any = intrinsic(_prefetch)
