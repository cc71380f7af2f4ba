"""A tile of single-precision products in registers, for filters that double precision confirms.

Operands are packed so that a tile reads both of them in order: block i of the left holds ROWS
rows, block j of the right COLUMNS rows, both stored by coordinate,

    out[r0 + r, c0 + c] = sum_t L[i, t, r] R[j, t, c],        r < ROWS, c < COLUMNS.

It is written in LLVM's own terms, as ``tiles.py``: vectors of LANES floats become AVX-512,
AVX2 or NEON instructions. Each sum runs over t in order with fused multiply-adds where there are
any, so its rounding error is at most (d + 1) 2^-24 sum_t |l_t r_t| (to first order) anywhere.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from pellucid.core.runtime.compiling.files import wide_vectors

_AVX512 = wide_vectors()
LANES = 16 if _AVX512 else 8  # floats in a register
VECTORS = 2
ROWS = 12 if _AVX512 else 6  # ROWS x VECTORS sums leave registers for the operands
COLUMNS = VECTORS * LANES

_FLOAT, _INT, _LANE = ir.FloatType(), ir.IntType(64), ir.IntType(32)
_VECTOR = ir.VectorType(_FLOAT, LANES)


def _product_tile(typing_context, L, R, i, j, out, r0, c0):
    """Write one tile; L (blocks, d, ROWS), R (blocks, d, COLUMNS), out two-dimensional, float32."""

    def generate(context, build, signature, a):
        arrays = [context.make_array(signature.args[k])(context, build, a[k]) for k in (0, 1, 4)]
        left, right, result = arrays
        d = build.extract_value(left.shape, 1)
        left_at = build.gep(left.data, [build.mul(a[2], build.mul(d, _INT(ROWS)))])
        right_at = build.gep(right.data, [build.mul(a[3], build.mul(d, _INT(COLUMNS)))])
        width = build.extract_value(result.shape, 1)
        out_at = build.gep(result.data, [build.add(build.mul(a[5], width), a[6])])
        _emit(build, left_at, right_at, d, out_at, width)
        return context.get_dummy_value()

    numbers = types.int64
    return types.void(L, R, numbers, numbers, out, numbers, numbers), generate


product_tile: Any = intrinsic(_product_tile)


def _emit(build: Any, left: Any, right: Any, d: Any, out: Any, width: Any) -> None:
    """The loop over the d coordinates and the stores after it."""
    before = build.block
    loop, store = (build.append_basic_block(name) for name in ("coordinates", "store"))
    build.branch(loop)
    build.position_at_end(loop)
    t = build.phi(_INT)
    t.add_incoming(_INT(0), before)
    sums = [[build.phi(_VECTOR) for _ in range(VECTORS)] for _ in range(ROWS)]
    left_t = build.gep(left, [build.mul(t, _INT(ROWS))])
    right_t = build.gep(right, [build.mul(t, _INT(COLUMNS))])
    columns = [_load(build, build.gep(right_t, [_INT(v * LANES)])) for v in range(VECTORS)]
    added = []
    for r in range(ROWS):
        value = _spread(build, build.load(build.gep(left_t, [_INT(r)])))
        products = [build.fmul(value, column, flags=["contract"]) for column in columns]
        terms = zip(sums[r], products, strict=True)
        added.append([build.fadd(old, new, flags=["contract"]) for old, new in terms])
    following = build.add(t, _INT(1))
    t.add_incoming(following, loop)
    for old_row, new_row in zip(sums, added, strict=True):
        for old, new in zip(old_row, new_row, strict=True):
            old.add_incoming(_VECTOR([0.0] * LANES), before)
            old.add_incoming(new, loop)
    build.cbranch(build.icmp_signed("<", following, d), loop, store)

    build.position_at_end(store)
    for r, new_row in enumerate(added):
        for v, new in enumerate(new_row):
            offset = build.add(build.mul(width, _INT(r)), _INT(v * LANES))
            place = build.bitcast(build.gep(out, [offset]), _VECTOR.as_pointer())
            build.store(new, place, align=4)


def _load(build: Any, place: Any) -> Any:
    return build.load(build.bitcast(place, _VECTOR.as_pointer()), align=4)


def _spread(build: Any, number: Any) -> Any:
    """One number in every lane."""
    nothing = ir.Constant(_VECTOR, ir.Undefined)
    first = build.insert_element(nothing, number, _LANE(0))
    return build.shuffle_vector(first, nothing, ir.VectorType(_LANE, LANES)([0] * LANES))
