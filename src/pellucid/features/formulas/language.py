r"""The text of a formula becomes a tree; nothing in it is ever handed to Python.

    terms     sums and products of factors:  a + b - 1,  a : b,  a * b,  a / b,  (a + b) ** 2
    factor    a column, `a column with blanks`, ``f(...)``, ``{arithmetic}``, 0, 1, or ``.``
    inside    arithmetic of columns and numbers: + - * / **, calls, lists and text as options

The binding of the operators is that of R among terms (``:`` before ``*``) and that of Python inside
a call. The canonical text of a node (``written``) names its columns, so ``log( x )`` is ``log(x)``.
"""

import re
from typing import NamedTuple, TypeAlias

LONGEST = 10_000  # characters
DEEPEST = 40  # brackets inside brackets
MOST_LINKS = 200  # operators in a row, except sums of terms
TOKEN = re.compile(
    r"""
      (?P<blank>\s+)
    | (?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)
    | (?P<name>[^\W\d]\w*(?:\.[^\W\d]\w*)*)
    | (?P<quoted>`[^`]+`)
    | (?P<text>"[^"\\]*"|'[^'\\]*')
    | (?P<mark>\*\*|[-+*/:^(){}\[\],=.])
    """,
    re.VERBOSE,
)
AMONG_TERMS = {"+": 1, "-": 1, "*": 2, "/": 2, ":": 3, "**": 4}
INSIDE = {"+": 1, "-": 1, "*": 2, "/": 2, "**": 4}
UNARY = 3


class Name(NamedTuple):
    """A column, or True and False among options."""

    text: str


class Number(NamedTuple):
    """A number as it was written."""

    text: str


class Text(NamedTuple):
    """Text in quotes."""

    value: str


class Items(NamedTuple):
    """A list, such as the knots of a spline."""

    items: tuple["Node", ...]


class Call(NamedTuple):
    """A function of the fixed set, with its arguments and options."""

    function: str
    arguments: tuple["Node", ...]
    options: tuple[tuple[str, "Node"], ...]


class Pair(NamedTuple):
    """Two nodes joined by an operator."""

    operator: str
    left: "Node"
    right: "Node"


class Minus(NamedTuple):
    """A node with a minus before it."""

    node: "Node"


class Braces(NamedTuple):
    """Arithmetic among terms: ``{x + z}``."""

    node: "Node"


class Rest(NamedTuple):
    """The dot: every other column."""


Node: TypeAlias = Name | Number | Text | Items | Call | Pair | Minus | Braces | Rest


def refusal(formula: str, what: str) -> ValueError:
    """What is wrong with a formula; a long one is not repeated whole."""
    shown = formula if len(formula) <= 80 else f"{formula[:77]}..."
    return ValueError(f"the formula {shown!r} cannot be read: {what}")


class Reader:
    """Reads one text from left to right; ``place`` is the next token."""

    def __init__(self, formula: str) -> None:
        self.formula, self.place, self.depth = formula, 0, 0
        self.tokens = _tokens(formula)

    @property
    def next(self) -> str:
        return self.tokens[self.place][1] if self.place < len(self.tokens) else ""

    def take(self, expected: str = "") -> tuple[str, str]:
        """The next token; ``expected`` must be its text."""
        if self.place >= len(self.tokens) or (expected and self.next != expected):
            found = f"{self.next!r}" if self.next else "the end"
            wanted = f"{expected!r}" if expected else "a column, a number or a function"
            raise self.refusal(f"{wanted} was expected, found {found}")
        self.place += 1
        return self.tokens[self.place - 1]

    def refusal(self, what: str) -> ValueError:
        return refusal(self.formula, what)

    def expression(self, binding: dict[str, int], least: int = 1) -> Node:
        """Operators that bind at least as strongly as ``least``, and what they join."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise self.refusal(f"brackets are nested deeper than {DEEPEST}")
        left, links = self.signed(binding), 0
        while (mark := _power(self.next, binding)) in binding and binding[mark] >= least:
            self.take()
            strength = binding[mark]
            right_first = mark == "**" and binding is INSIDE
            right = self.expression(binding, strength if right_first else strength + 1)
            left, links = Pair(mark, left, right), links + 1
            if links > MOST_LINKS and not (binding is AMONG_TERMS and mark in "+-"):
                raise self.refusal(f"more than {MOST_LINKS} operators stand in a row")
        self.depth -= 1
        return left

    def signed(self, binding: dict[str, int]) -> Node:
        if self.next in ("-", "+"):
            sign = self.take()[1]
            node = self.expression(binding, UNARY if binding is INSIDE else 2)
            return Minus(node) if sign == "-" else node
        return self.atom(binding)

    def atom(self, binding: dict[str, int]) -> Node:
        kind, text = self.take()
        if kind == "number":
            return Number(text)
        if kind == "quoted":
            return Name(text[1:-1])
        if kind == "name":
            return self.call(text) if self.next == "(" else Name(text)
        if text == "(":
            return self.closed(binding, ")")
        if binding is AMONG_TERMS and text == "{":
            return Braces(self.closed(INSIDE, "}"))
        if binding is AMONG_TERMS and text == ".":
            return Rest()
        if binding is INSIDE and kind == "text":
            return Text(text[1:-1])
        if binding is INSIDE and text == "[":
            return self.items()
        raise self.refusal(f"{text!r} has no meaning there")

    def closed(self, binding: dict[str, int], end: str) -> Node:
        node = self.expression(binding)
        self.take(end)
        return node

    def items(self) -> Node:
        found: list[Node] = []
        while self.next != "]":
            found.append(self.expression(INSIDE))
            if self.next != "]":
                self.take(",")
        self.take("]")
        return Items(tuple(found))

    def call(self, function: str) -> Node:
        self.take("(")
        arguments: list[Node] = []
        options: list[tuple[str, Node]] = []
        while self.next != ")":
            node = self.expression(INSIDE)
            if self.next == "=" and isinstance(node, Name):
                self.take("=")
                options.append((node.text, self.expression(INSIDE)))
            elif options:
                raise self.refusal(f"{written(node)} comes after an option")
            else:
                arguments.append(node)
            if self.next != ")":
                self.take(",")
        self.take(")")
        return Call(function, tuple(arguments), tuple(options))


def read_formula(formula: str) -> Node:
    """The tree of the right-hand side of a formula.

    >>> written(read_formula("log( x )+C(g)*z"))
    'log(x) + C(g) * z'
    >>> read_formula("x.system()('id')")
    Traceback (most recent call last):
    ValueError: the formula "x.system()('id')" cannot be read: '(' was found where it should end
    """
    reader = Reader(formula)
    node = reader.expression(AMONG_TERMS)
    if reader.next:
        raise reader.refusal(f"{reader.next!r} was found where it should end")
    return node


def written(node: Node) -> str:
    """The canonical text of a node.

    >>> written(Pair("**", Name("x"), Number("2")))
    'x ** 2'
    """
    match node:
        case Name(text) | Number(text):
            return text
        case Text(value):
            return repr(value)
        case Items(items):
            return f"[{', '.join(map(written, items))}]"
        case Call(function, arguments, options):
            parts = [*map(written, arguments), *(f"{name}={written(v)}" for name, v in options)]
            return f"{function}({', '.join(parts)})"
        case Pair(mark, left, right):
            return f"{_inner(left, mark)} {mark} {_inner(right, mark, right=True)}"
        case Minus(inner):
            weak = isinstance(inner, Pair) and AMONG_TERMS[inner.operator] < UNARY
            return f"-({written(inner)})" if weak else f"-{written(inner)}"
        case Braces(inner):
            return written(inner)
        case Rest():
            return "."


def _inner(node: Node, mark: str, *, right: bool = False) -> str:
    """An operand, in brackets where it binds less than the operator outside."""
    own = UNARY if isinstance(node, Minus) else 9
    own = AMONG_TERMS[node.operator] if isinstance(node, Pair) else own
    weak = own < AMONG_TERMS[mark] or (own == AMONG_TERMS[mark] and right != (mark == "**"))
    return f"({written(node)})" if weak else written(node)


def _power(mark: str, binding: dict[str, int]) -> str:
    return "**" if mark == "^" and binding is AMONG_TERMS else mark


def _tokens(formula: str) -> list[tuple[str, str]]:
    if len(formula) > LONGEST:
        raise ValueError(f"a formula has at most {LONGEST} characters, got {len(formula)}")
    tokens, place = [], 0
    while place < len(formula):
        token = TOKEN.match(formula, place)
        if token is None:
            raise refusal(formula, f"{formula[place]!r} has no meaning")
        if token.lastgroup != "blank":
            tokens.append((str(token.lastgroup), token.group()))
        place = token.end()
    return tokens
