r"""A boolean formula as two levels of step units.

    and of k literals:   step(sum of literals - k + 1/2)      not x  becomes  1 - x
    or of k literals:    step(sum of literals - 1/2)

A formula in disjunctive normal form needs one unit for each clause and one for the "or"; in
conjunctive normal form one for each clause and one for the "and".
"""

import re
from typing import NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.neural.network import Network

TOKEN = re.compile(r"\s*(\(|\)|[A-Za-z_]\w*)")
WORDS = ("and", "or", "not")
Tree = tuple  # ("var", name), ("not", tree), ("and" | "or", [trees])


class BooleanNetwork(NamedTuple):
    """Two levels of step units, and the variable that each input column stands for."""

    network: Network
    variables: tuple[str, ...]

    def predict(self, X: ArrayLike) -> Array:
        """0 or 1 for rows of 0/1 inputs."""
        return self.network.predict(X).ravel()


class Parser:
    """formula = term {or term}; term = factor {and factor}; factor = not factor | ( ) | name."""

    def __init__(self, formula: str) -> None:
        self.formula, self.tokens, at = formula, [], 0
        while formula[at:].strip():
            found = TOKEN.match(formula, at)
            if found is None:
                raise ValueError(f"cannot read {formula[at:].strip()!r} in the formula")
            word = found.group(1)
            self.tokens.append(word.lower() if word.lower() in WORDS else word)
            at = found.end()
        self.at = 0

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def parse(self) -> Tree:
        tree = self.chain("or")
        if self.peek():
            raise ValueError(f"{self.peek()!r} is not expected there in {self.formula!r}")
        return tree

    def chain(self, word: str) -> Tree:
        parts = [self.part(word)]
        while self.peek() == word:
            self.at += 1
            parts.append(self.part(word))
        return parts[0] if len(parts) == 1 else (word, parts)

    def part(self, word: str) -> Tree:
        return self.chain("and") if word == "or" else self.factor()

    def factor(self) -> Tree:
        token, self.at = self.peek(), self.at + 1
        if token == "not":
            return "not", self.factor()
        if token == "(":
            tree = self.chain("or")
            if self.peek() != ")":
                raise ValueError(f"a bracket is not closed in {self.formula!r}")
            self.at += 1
            return tree
        if not token or token in (")", "and", "or"):
            raise ValueError(f"a variable is missing before {token or 'the end'!r}")
        return "var", token


def literal(tree: Tree) -> tuple[str, bool] | None:
    """(name, negated) of a variable or its negation, else None."""
    negated = False
    while tree[0] == "not":
        tree, negated = tree[1], not negated
    return (tree[1], negated) if tree[0] == "var" else None


def parts_of(tree: Tree, word: str) -> list[Tree]:
    """The operands of nested ``word``s, or the tree alone."""
    return [p for t in tree[1] for p in parts_of(t, word)] if tree[0] == word else [tree]


def clauses(tree: Tree, outer: str, inner: str) -> list[list[tuple[str, bool]]] | None:
    """The clauses of a normal form, or None where the tree is not one."""
    found = []
    for part in parts_of(tree, outer):
        literals = [literal(p) for p in parts_of(part, inner)]
        if any(one is None for one in literals):
            return None
        found.append([one for one in dict.fromkeys(literals) if one is not None])
    return found


def names_of(tree: Tree) -> list[str]:
    """The variables in order of first appearance."""
    if tree[0] == "var":
        return [tree[1]]
    parts = [tree[1]] if tree[0] == "not" else tree[1]
    return list(dict.fromkeys(name for part in parts for name in names_of(part)))


def gate(signs: Array, word: str) -> float:
    """The bias of a step unit that is the and, or the or, of literals with these signs."""
    negative = float((signs < 0).sum())
    count = float((signs != 0).sum())
    return negative - count + 0.5 if word == "and" else negative - 0.5


def boolean_network(formula: str) -> BooleanNetwork:
    """A network that computes a boolean formula of 0/1 inputs.

    Parameters
    ----------
    formula : str
        Names, ``and``, ``or``, ``not`` and brackets, in disjunctive or conjunctive normal form.

    Examples
    --------
    >>> found = boolean_network("(A and B) or (C and not D)")
    >>> found.variables, found.predict([[1, 1, 0, 0], [0, 1, 1, 0], [0, 1, 1, 1]])
    (('A', 'B', 'C', 'D'), array([1., 1., 0.]))
    """
    tree = Parser(formula).parse()
    names = names_of(tree)
    inner, outer, found = "and", "or", clauses(tree, "or", "and")
    if found is None:
        inner, outer, found = "or", "and", clauses(tree, "and", "or")
    if found is None:
        raise ValueError(f"{formula!r} is neither an or of ands (DNF) nor an and of ors (CNF)")
    W = np.zeros((len(names), len(found)))
    b = np.zeros(len(found))
    for k, clause in enumerate(found):
        for name, negated in clause:
            W[names.index(name), k] += -1.0 if negated else 1.0
        if len({name for name, _ in clause}) < len(clause):  # x and not x, x or not x
            W[:, k], b[k] = 0.0, -0.5 if inner == "and" else 0.5
        else:
            b[k] = gate(W[:, k], inner)
    ones = np.ones(len(found))
    weights, biases = [W, ones[:, None]], [b, [gate(ones, outer)]]
    network = Network.from_weights(weights, biases, activations=["step", "step"])
    return BooleanNetwork(network, tuple(names))
