r"""Multiply out a formula: a term is a product of factors, the empty product is the constant.

    a * b = a + b + a:b        (a + b) ** 2 = a + b + a:b        a / b = a + a:b

Terms come by their number of factors, then in the order of writing; ``- t`` takes t away, ``- 1``
or ``+ 0`` the constant, which is there otherwise (Wilkinson and Rogers 1973).
"""

from itertools import product
from typing import TypeAlias

from pellucid.features.formulas.language import (
    Braces,
    Call,
    Minus,
    Name,
    Node,
    Number,
    Pair,
    Rest,
    Text,
    written,
)

Term: TypeAlias = tuple[str, ...]  # canonical texts of the factors
Factors: TypeAlias = dict[str, Node]
MOST_TERMS = 10_000
MOST_FACTORS = 12
CONSTANT: Term = ()


def list_terms(tree: Node, others: list[str]) -> tuple[list[Term], Factors]:
    """The terms of a formula in order, and its factors; ``others`` are what the dot stands for.

    >>> from pellucid.features.formulas.language import read_formula
    >>> list_terms(read_formula("b:a + a*b - b"), [])[0]
    [(), ('a',), ('b', 'a')]
    """
    factors: Factors = {}
    found = _sum(tree, factors, others, _term(CONSTANT))
    return sorted(found.values(), key=len), factors


Terms: TypeAlias = dict[frozenset[str], Term]  # a:b and b:a are one term


def _sum(node: Node, factors: Factors, others: list[str], before: Terms | None = None) -> Terms:
    """The terms ``before``, then those of the node are added or taken away one by one."""
    found = {} if before is None else before
    for sign, operand in _operands(node):
        if operand == Number("0"):
            operand, sign = Number("1"), -sign
        more = _product(operand, factors, others)
        if sign > 0:
            found = _union(found, more)
        else:
            found = {key: term for key, term in found.items() if key not in more}
    return found


def _operands(node: Node) -> list[tuple[int, Node]]:
    """What is added (1) and taken away (-1) at the top of a node; sums may be long, so no calls."""
    found: list[tuple[int, Node]] = []
    while isinstance(node, Pair) and node.operator in "+-":
        found.append((1 if node.operator == "+" else -1, node.right))
        node = node.left
    found.append((-1, node.node) if isinstance(node, Minus) else (1, node))
    return found[::-1]


def _product(node: Node, factors: Factors, others: list[str]) -> Terms:
    """The terms of a node that is a product, a power or one factor."""
    match node:
        case Pair("+" | "-") | Minus():
            return _sum(node, factors, others)
        case Pair("**", left, Number(text)):
            if not text.isdigit() or not 1 <= int(text) <= MOST_FACTORS:
                raise ValueError(f"the power of terms must be 1 to {MOST_FACTORS}, got {text}")
            base = powers = _sum(left, factors, others)
            for _ in range(int(text) - 1):
                powers = _times(powers, base)
            return powers
        case Pair("**", _, right):
            raise ValueError(f"the power of terms must be a number, got {written(right)}")
        case Pair(mark, left, right):
            a, b = _sum(left, factors, others), _sum(right, factors, others)
            if mark == ":":
                return _times(a, b)
            if mark == "*":
                return _union(_union(a, b), _times(a, b))
            whole = _term(tuple(dict.fromkeys(text for term in a.values() for text in term)))
            return _union(a, _times(whole, b))
        case Number("1"):
            return _term(CONSTANT)
        case Number(text):
            raise ValueError(f"among terms a number is 0 or 1, got {text}")
        case Rest():
            factors.update({name: Name(name) for name in others})
            return {frozenset([name]): (name,) for name in others}
        case Name() | Call() | Braces():
            inner = node.node if isinstance(node, Braces) else node
            factors[written(inner)] = inner
            return _term((written(inner),))
        case _:
            raise ValueError(f"{written(node)} is no term of a formula")


def _union(a: Terms, b: Terms) -> Terms:
    """Both; a term that is in both stays as it was written first."""
    return {**a, **{key: term for key, term in b.items() if key not in a}}


def _times(a: Terms, b: Terms) -> Terms:
    if len(a) * len(b) > MOST_TERMS:
        raise ValueError(f"the formula has more than {MOST_TERMS} terms")
    found: Terms = {}
    for left, right in product(a.values(), b.values()):
        term = tuple(dict.fromkeys(left + right))
        if len(term) > MOST_FACTORS:
            raise ValueError(f"a term has at most {MOST_FACTORS} factors, got {len(term)}")
        found.setdefault(frozenset(term), term)
    return found


def _term(term: Term) -> Terms:
    return {frozenset(term): term}


def used_columns(node: Node) -> set[str]:
    """Every name that a node reads.

    >>> from pellucid.features.formulas.language import read_formula
    >>> sorted(used_columns(read_formula("log(y) + I(a / `b c`)")))
    ['a', 'b c', 'y']
    """
    match node:
        case Name(text):
            return {text}
        case Pair("+" | "-"):
            return {name for _, one in _operands(node) for name in used_columns(one)}
        case Pair(_, left, right):
            return used_columns(left) | used_columns(right)
        case Minus(inner) | Braces(inner):
            return used_columns(inner)
        case Call("C" | "Q", (Text(value),), _):
            return {value}
        case Call(_, arguments, _):
            return {name for one in arguments for name in used_columns(one)}
        case _:
            return set()
