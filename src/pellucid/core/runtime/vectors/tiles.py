"""What Numba does not find by itself: tiles of sums, asking for memory, pairs, meeting threads.

For blocks L and R of m rows, a tile keeps TILE_ROWS x (vectors x LANES) sums in registers,

    out[a + r, b + c] (+)= sum_i L[i, a + r] R[i, b + c]            (products)
    out[a + r, b + c]   =  sum_i (L[i, a + r] - R[i, b + c])^2      (distances)

so that each row costs a few loads and otherwise only fused multiply-adds. It is written in LLVM's
own terms: vectors of LANES doubles, which become AVX-512, AVX2 or NEON instructions as the
machine has them.
"""

import sys
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from pellucid.core.runtime.compiling.files import wide_vectors

_AVX512 = wide_vectors()
LANES = 8 if _AVX512 else 4  # doubles in a register
TILE_ROWS = 8 if _AVX512 else 4  # 3 x TILE_ROWS sums leave registers for the operands

_DOUBLE, _INT, _LANE = ir.DoubleType(), ir.IntType(64), ir.IntType(32)
_VECTOR = ir.VectorType(_DOUBLE, LANES)
_PAIR = ir.VectorType(_INT, 2)
AT_ONCE = 6  # columns whose bins are read before their sums are written


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
_intrinsic: Any = intrinsic  # callers leave out the typing context, which mypy does not know


def _add_cells(width: int) -> Any:
    """A function that adds the cell of a row, ``width`` whole numbers, to one bin per column."""
    kind = _PAIR if width == 2 else _INT

    @_intrinsic
    def add_cells(typing_context, codes, start, n_columns, cells, row, sums):
        """sums[j, codes[start + j]] += cells[row] for every column j."""

        def generate(context, build, signature, a):
            kinds = signature.args
            arrays = [context.make_array(kinds[k])(context, build, a[k]) for k in (0, 3, 5)]
            codes, cells, sums = (array.data for array in arrays)
            codes, n = build.gep(codes, [a[1]]), a[2]

            def place(array, number):
                pointer = build.gep(array, [build.mul(number, _INT(width))])
                return build.bitcast(pointer, kind.as_pointer())

            value = build.load(place(cells, a[4]), align=8)

            def add(j, count):
                columns = [_plus(build, j, k) for k in range(count)]
                bins = [build.load(build.gep(codes, [k])) for k in columns]
                for k, b in zip(columns, bins, strict=True):
                    at = place(sums, build.add(build.shl(k, _INT(8)), build.zext(b, _INT)))
                    build.store(build.add(build.load(at, align=8), value), at, align=8)

            whole = build.sub(n, build.urem(n, _INT(AT_ONCE)))
            _each(build, _INT(0), whole, AT_ONCE, add)
            _each(build, whole, n, 1, add)
            return context.get_dummy_value()

        return types.void(codes, types.int64, types.int64, cells, types.int64, sums), generate

    return add_cells


def _each(build: Any, first: Any, last: Any, step: int, body: Any) -> None:
    """body(j, step) for j = first, first + step, ... below last."""
    before = build.block
    loop, done = (build.append_basic_block(name) for name in ("columns", "done"))
    build.cbranch(build.icmp_signed("<", first, last), loop, done)
    build.position_at_end(loop)
    j = build.phi(_INT)
    j.add_incoming(first, before)
    body(j, step)
    following = _plus(build, j, step)
    j.add_incoming(following, loop)
    build.cbranch(build.icmp_signed("<", following, last), loop, done)
    build.position_at_end(done)


add_singles, add_pairs = _add_cells(1), _add_cells(2)


give_way: Any = types.ExternalFunction(
    "SwitchToThread" if sys.platform == "win32" else "sched_yield", types.int32()
)


@_intrinsic
def add_one(typing_context, counter):
    """Add 1 to counter[0], whoever else does so at the same time."""

    def generate(context, build, signature, arguments):
        data = context.make_array(signature.args[0])(context, build, arguments[0]).data
        return build.atomic_rmw("add", data, ir.IntType(64)(1), "seq_cst")

    return types.int64(counter), generate


@_intrinsic
def look_at(typing_context, counter):
    """counter[0] as other threads see it."""

    def generate(context, build, signature, arguments):
        data = context.make_array(signature.args[0])(context, build, arguments[0]).data
        return build.load_atomic(data, "seq_cst", 8)

    return types.int64(counter), generate


@_intrinsic
def trailing_zeros(typing_context, x):
    """The place of the lowest set bit of a uint64."""

    def generate(context, build, signature, arguments):
        return build.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), generate
