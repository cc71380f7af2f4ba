r"""From texts to numbered terms: tokens, stop words, n-grams.

The words of all texts lie in one buffer and are numbered by compiled code
(``compiled.counts.words``); Python touches each *distinct* term once, not each occurrence. The
pattern ``\b\w\w+\b`` (or ``\b\w+\b``) means maximal runs of word characters, found without regular
expressions; which characters count is asked of Python's own ``\w``. Any other pattern, tokenizer or
analyzer runs as given, text by text.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from pellucid.compiled.counts.words import find_words, number_pairs, number_words
from pellucid.core.arrays.typing import IntArray

RUNS = {r"(?u)\b\w\w+\b": 2, r"\b\w\w+\b": 2, r"(?u)\b\w+\b": 1, r"\b\w+\b": 1, r"\w+": 1}


class Terms(NamedTuple):
    """The terms of all texts: every occurrence by its number, and the distinct terms."""

    numbers: IntArray  # (occurrences,) in the order of the texts
    ends: IntArray  # (texts,) how many occurrences there are up to the end of each text
    terms: list[str]  # (distinct,)


def scan(texts: Sequence[str], least: int) -> Terms:
    """The maximal runs of at least ``least`` word characters.

    >>> found = scan(["red red green", "a blue"], 2)
    >>> found.terms, found.numbers, found.ends
    (['red', 'green', 'blue'], array([0, 0, 1, 2]), array([3, 4]))
    """
    joined = "\n".join(texts)
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    ends = np.cumsum(lengths + 1) - 1
    chars, flags = characters(joined)
    starts, stops, word_ends = find_words(flags, ends, least)
    numbers, born = number_words(chars, starts, stops)
    pairs = zip(starts[born].tolist(), stops[born].tolist(), strict=True)
    return Terms(numbers, word_ends, [joined[a:b] for a, b in pairs])


def characters(text: str) -> tuple[Any, Any]:
    """The codes of the characters, and whether each is part of a word."""
    if text.isascii():
        narrow = np.frombuffer(text.encode("ascii"), np.uint8).copy()
        ascii_words = np.array([re.match(r"\w", chr(code)) is not None for code in range(128)])
        return narrow, ascii_words.astype(np.uint8)[narrow]
    chars = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32).copy()
    table = np.zeros(int(chars.max()) + 1, np.uint8)
    table[chars] = 1  # the characters in use
    for code in np.flatnonzero(table).tolist():
        table[code] = re.match(r"\w", chr(code)) is not None
    return chars, table[chars]


def number_tokens(token_lists: Iterable[Iterable[str]]) -> Terms:
    """Number the tokens that some analyzer gave."""
    numbers: dict[str, int] = {}
    found: list[int] = []
    ends: list[int] = []
    for tokens in token_lists:
        found.extend(numbers.setdefault(token, len(numbers)) for token in tokens)
        ends.append(len(found))
    return Terms(np.array(found, np.int64), np.array(ends, np.int64), list(numbers))


def drop(found: Terms, unwanted: frozenset[str]) -> Terms:
    """Leave out the occurrences of unwanted terms."""
    keep = np.array([term not in unwanted for term in found.terms], dtype=bool)
    stays = keep[found.numbers] if len(found.terms) else np.zeros(0, bool)
    before = np.concatenate([[0], np.cumsum(stays)])
    new = np.cumsum(keep) - 1
    terms = [term for term, kept in zip(found.terms, keep, strict=True) if kept]
    return Terms(new[found.numbers[stays]], before[found.ends], terms)


def grams(found: Terms, low: int, high: int, between: str = " ") -> Terms:
    """All runs of ``low`` to ``high`` consecutive terms of a text, joined by a space.

    >>> grams(scan(["to be or"], 1), 1, 2).terms
    ['to', 'be', 'or', 'to be', 'be or']
    """
    if (low, high) == (1, 1):
        return found
    text = np.searchsorted(found.ends, np.arange(len(found.numbers)), side="right")
    begin = place = np.arange(len(text))  # where each run begins, and its place in the list
    numbers, terms = found.numbers, found.terms
    parts, owners = [], []
    names: list[list[str]] = []
    for n in range(1, high + 1):
        if n > 1:
            begin = np.flatnonzero(text[: len(text) - n + 1] == text[n - 1 :])  # in one text
            left, right = numbers[place[begin]], found.numbers[begin + n - 1]
            numbers, born = number_pairs(left, right)
            pairs = zip(left[born].tolist(), right[born].tolist(), strict=True)
            terms = [terms[a] + between + found.terms[b] for a, b in pairs]
            place = np.zeros(len(text), np.int64)
            place[begin] = np.arange(len(begin))
        if n >= low:
            parts.append(numbers + sum(len(some) for some in names))
            owners.append(text[begin])
            names.append(terms)
    owner = np.concatenate(owners)
    order = np.argsort(owner, kind="stable")
    ends = np.searchsorted(owner[order], np.arange(len(found.ends)), side="right")
    return Terms(np.concatenate(parts)[order], ends, [term for some in names for term in some])


def distinct(found: Terms) -> Terms:
    """Terms that are one text by one number: a token with a space in it may equal a run of two.

    >>> distinct(Terms(np.array([0, 1, 2]), np.array([3]), ["a b", "a", "a b"])).numbers
    array([0, 1, 0])
    """
    numbers: dict[str, int] = {}
    places = np.array([numbers.setdefault(term, len(numbers)) for term in found.terms], np.int64)
    if len(numbers) == len(found.terms):
        return found
    return Terms(places[found.numbers], found.ends, list(numbers))


SPACES = re.compile(r"\s\s+")


def character_grams(texts: Sequence[str], low: int, high: int) -> Terms:
    """Runs of ``low`` to ``high`` characters; white space is collapsed first.

    >>> character_grams(["abc"], 2, 3).terms
    ['ab', 'bc', 'abc']
    """
    texts = [SPACES.sub(" ", text) for text in texts]
    codes = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.uint32)
    table = np.zeros(int(codes.max(initial=0)) + 1, np.int64)
    table[codes] = 1
    used = np.flatnonzero(table)
    table[used] = np.arange(len(used))
    ends = np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)))
    letters = Terms(table[codes], ends, [chr(code) for code in used.tolist()])
    return grams(letters, low, high, between="")


def padded_grams(texts: Sequence[str], low: int, high: int) -> Terms:
    """Runs of characters inside words, each word padded by a space; a distinct word is cut once.

    >>> padded_grams(["ab ab"], 3, 3).terms
    [' ab', 'ab ']
    """
    words = number_tokens(text.split() for text in texts)
    cut = number_tokens(_padded(word, low, high) for word in words.terms)
    sizes = np.diff(cut.ends, prepend=0)[words.numbers]  # terms of every occurrence of a word
    stops = np.cumsum(sizes)
    begin = (cut.ends - np.diff(cut.ends, prepend=0))[words.numbers]
    places = np.arange(sizes.sum()) + np.repeat(begin - (stops - sizes), sizes)
    ends = np.concatenate([[0], stops])[words.ends]
    return Terms(cut.numbers[places], ends, cut.terms)


def _padded(word: str, low: int, high: int) -> list[str]:
    padded, found = f" {word} ", []
    for n in range(low, high + 1):
        found += [padded[i : i + n] for i in range(max(len(padded) - n + 1, 1))]
        if len(padded) <= n:  # a short word counts once
            break
    return found


def tokenizer(pattern: str) -> Callable[[str], list[str]]:
    """All matches of a pattern; with one group in it, that group."""
    compiled = re.compile(pattern)
    if compiled.groups > 1:
        what = "More than 1 capturing group in token pattern"
        raise ValueError(f"{what}: {compiled.groups} in {pattern!r}; (?:...) does not capture")
    return compiled.findall
