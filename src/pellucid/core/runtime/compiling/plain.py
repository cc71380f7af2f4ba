"""Kernels as plain Python, where there is no Numba: the same answers on small data, slower.

Numba's arithmetic differs from Python's in a few places, and a kernel may rely on it: a division by
zero is inf or NaN, small whole numbers and truth values widen before they are added, single
precision meets a literal in double precision, the logarithm of 0 is -inf. ``Arithmetic`` rewrites
those places in the source of a kernel; all else runs as it is written.
"""

import ast
import inspect
import logging
import math
import textwrap
import threading
from collections.abc import Callable
from functools import update_wrapper
from types import CodeType, FunctionType, SimpleNamespace
from typing import Any

import numpy as np
from scipy import special

from pellucid.core.runtime.jit import Kernel

logger = logging.getLogger("pellucid")

SMALL = (np.bool_, np.uint8, np.int8, np.uint16, np.int16, np.uint32, np.int32)
ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)
_said: list[str] = []
_writing = threading.RLock()  # one thread rewrites a kernel and those that it calls


def widened(value: Any) -> Any:
    """A small whole number as one of Python's; anything else as it is.

    >>> widened(np.uint8(200)) + widened(np.uint8(100))
    300
    """
    return int(value) if type(value) in SMALL else value


def divided(a: Any, b: Any) -> Any:
    """``a / b``, which is inf or NaN for b = 0.

    >>> with np.errstate(divide="ignore"):
    ...     divided(1, 0), divided(3, 2)
    (np.float64(inf), 1.5)
    """
    try:
        return widened(a) / widened(b)
    except ZeroDivisionError:
        return np.float64(a) / np.float64(b)


def divided_in_place(a: Any, b: Any) -> Any:
    """``a /= b`` for a number or for an array."""
    if isinstance(a, np.ndarray):
        a /= b
        return a
    return divided(a, b)


def power(a: Any, b: Any) -> Any:
    """``a ** b`` without exceptions or complex numbers.

    >>> with np.errstate(invalid="ignore"):
    ...     power(2, 3), power(-1.0, 0.5)
    (8, np.float64(nan))
    """
    a, b = widened(a), widened(b)
    if isinstance(a, np.ndarray) or (isinstance(a, int | np.integer) and not isinstance(b, float)):
        return a**b
    return np.float64(a) ** b


def whole(a: Any) -> int:
    """``int(a)``; what is no number becomes the least, as in machine code."""
    return int(a) if math.isfinite(a) else -(2**63)


_LIKE_NUMPY = (
    "sqrt exp expm1 log log1p log2 log10 sin cos tan tanh sinh cosh hypot fabs copysign isnan "
    "isinf isfinite ldexp"
)
MATH = SimpleNamespace(
    **{name: getattr(math, name) for name in dir(math) if not name.startswith("_")}
    | {name: getattr(np, name) for name in _LIKE_NUMPY.split()}
    | {name: getattr(special, name) for name in ("gamma", "erf", "erfc")}
    | {"lgamma": special.gammaln, "pow": power, "atan": np.arctan, "atan2": np.arctan2}
    | {"acos": np.arccos, "asin": np.arcsin}
)
_MATH_NAMES = {f: name for name in vars(MATH) if callable(f := getattr(math, name))}

HELPERS = {f.__name__: f for f in (widened, divided, divided_in_place, power, whole)}


class Arithmetic(ast.NodeTransformer):
    """Rewrites numbers and operators so that they do what compiled ones do."""

    def __init__(self) -> None:
        self.constants: dict[str, Any] = {}

    def _call(self, name: str, *arguments: ast.expr) -> ast.Call:
        return ast.Call(ast.Name(f"__{name}", ast.Load()), list(arguments), [])

    def _constant(self, value: Any) -> ast.Name:
        name = f"__{type(value).__name__}_{len(self.constants)}"
        self.constants[name] = value
        return ast.Name(name, ast.Load())

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        return self._constant(np.float64(node.value)) if type(node.value) is float else node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        """-1 of 64 bits: all the bits of a word, when it is put into an array of them."""
        value = getattr(node.operand, "value", None)
        if isinstance(node.op, ast.USub) and type(value) is int:
            return self._constant(np.int64(-value))
        self.generic_visit(node)
        return node

    def _operand(self, node: ast.expr) -> ast.expr:
        """An operand of + - * // %: literals are of 64 bits, small numbers are widened."""
        if isinstance(node, ast.Constant) and type(node.value) is int:
            return self._constant(np.int64(node.value))
        if isinstance(node, ast.Name) and node.id in self.constants:
            return node
        if isinstance(node, ast.Name | ast.Subscript | ast.Call | ast.Attribute):
            return self._call("widened", node)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        before = node.left, node.right
        self.generic_visit(node)
        if isinstance(node.op, ast.Div):
            return self._call("divided", node.left, node.right)
        if isinstance(node.op, ast.Pow):
            return self._call("power", node.left, node.right)
        if isinstance(node.op, ARITHMETIC):
            both = all(isinstance(x, ast.Constant | ast.Tuple | ast.List) for x in before)
            if not both:  # (0,) * 3, 2 * 3
                node.left, node.right = self._operand(node.left), self._operand(node.right)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        self.generic_visit(node)
        if isinstance(node.op, ast.Div):
            read = ast.parse(ast.unparse(node.target), mode="eval").body
            return ast.Assign([node.target], self._call("divided_in_place", read, node.value))
        if isinstance(node.op, ARITHMETIC):
            node.value = self._operand(node.value)
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "int" and len(node.args) == 1:
            return self._call("whole", *node.args)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        node.decorator_list = []
        node.returns = None
        for argument in (*node.args.args, *node.args.kwonlyargs):
            argument.annotation = None
        node.args.defaults = []
        self.generic_visit(node)
        return node


class PlainKernel:
    """A kernel that Python runs; it is rewritten on its first call."""

    def __init__(self, function: Callable[..., Any], why: str) -> None:
        update_wrapper(self, function)
        self.py_func: Any = function
        self.why = why
        self._plain: Callable[..., Any] | None = None
        self._whole = False

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        if not _said:
            _said.append(self.why)
            logger.warning(f"kernels run as plain Python, which is slow: {self.why}")
        with np.errstate(all="ignore"):
            return self.plain(*arguments, **named)

    @property
    def plain(self) -> Callable[..., Any]:
        """The rewritten function; kernels that it calls are rewritten with it."""
        if not self._whole:
            with _writing:
                if self._plain is None:
                    self._rewrite()
                    self._whole = True
        assert self._plain is not None
        return self._plain

    def _rewrite(self) -> None:
        function = self.py_func
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
        rewriting = Arithmetic()
        tree = ast.fix_missing_locations(rewriting.visit(tree))
        ast.increment_lineno(tree, function.__code__.co_firstlineno - 1)
        space: dict[str, Any] = {f"__{name}": f for name, f in HELPERS.items()}
        space |= rewriting.constants
        exec(compile(tree, function.__code__.co_filename, "exec"), space)
        plain = space[function.__name__]
        plain.__defaults__ = function.__defaults__
        self._plain = plain  # before the others: one may call this one again
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        known = function.__globals__ | {name: cell.cell_contents for name, cell in cells}
        names = _names(function.__code__)
        space.update({name: _resolved(known[name]) for name in names if name in known})


def _names(code: CodeType) -> set[str]:
    """The names that a function and those inside it read."""
    inner = [c for c in code.co_consts if isinstance(c, CodeType)]
    return {*code.co_names, *code.co_freevars}.union(*map(_names, inner))


def _resolved(value: Any) -> Any:
    """What stands for a global value in a rewritten kernel."""
    form = value.form if isinstance(value, Kernel) else None
    if isinstance(form, PlainKernel):
        return form.plain
    if value is math:
        return MATH
    if isinstance(value, FunctionType) or not callable(value):
        return value
    try:
        return getattr(MATH, _MATH_NAMES[value]) if value in _MATH_NAMES else value
    except TypeError:  # a value without a hash
        return value
