"""Counts of the terms of a vocabulary that is learned, or given.

X[d, t] is how often term t occurs in text d; the columns are the sorted vocabulary of the training
texts, and terms outside it are ignored later. One pass numbers all words (``terms.py``), one
compiled pass counts them into compressed rows. In how many texts a term occurs, and how often, are
sums over the texts: blocks of one column of texts give the vocabulary of a list.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from numbers import Integral
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import DTypeLike
from scipy.sparse import csr_matrix, issparse
from sklearn.exceptions import NotFittedError

from pellucid.base import check_blocks, map_of
from pellucid.compiled.counts.words import count_words
from pellucid.core.arrays import check
from pellucid.core.arrays.reading import row_table
from pellucid.core.arrays.typing import ArrayLike, IntArray, Matrix
from pellucid.core.loops.statistics import Rows, Statistic, reduce_rows
from pellucid.core.runtime.warn import warn
from pellucid.features.text.terms import Terms
from pellucid.features.text.text_model import TextModel


class Occurrences(NamedTuple):
    """How many texts there are; of every term, in how many of them and how often it occurs."""

    texts: int
    terms: dict[str, tuple[int, int]]


def leaf_occurrences(cut: Callable[[Any], Terms], rows: Rows) -> Occurrences:
    """The terms of one leaf of texts."""
    found = cut(rows.X)
    texts, total = occurrences(found)
    counts = zip(texts.tolist(), total.tolist(), strict=True)
    return Occurrences(len(found.ends), dict(zip(found.terms, counts, strict=True)))


def merge_occurrences(a: Occurrences, b: Occurrences) -> Occurrences:
    """The terms of two sets of texts.

    >>> merge_occurrences(Occurrences(1, {"a": (1, 3)}), Occurrences(2, {"a": (2, 2), "b": (1, 1)}))
    Occurrences(texts=3, terms={'a': (3, 5), 'b': (1, 1)})
    """
    terms = dict(a.terms)
    for term, (texts, total) in b.terms.items():
        before = terms.get(term, (0, 0))
        terms[term] = before[0] + texts, before[1] + total
    return Occurrences(a.texts + b.texts, terms)


def occurrences(found: Terms) -> tuple[IntArray, IntArray]:
    """In how many texts each distinct term occurs, and how often."""
    v = len(found.terms)
    _, entries, counts = count_words(found.numbers, found.ends, v)
    return np.bincount(entries, minlength=v), np.bincount(entries, counts, v).astype(np.int64)


class VocabularyModel(TextModel):
    """Base of the vectorisers whose columns are terms."""

    _takes_words = True

    max_df: float
    min_df: float
    max_features: int | None
    vocabulary: Mapping[str, int] | Iterable[str] | None
    dtype: DTypeLike

    def _learn_counts(self, texts: list[Any]) -> Any:
        """Learn the vocabulary of the texts and count their terms."""
        self._check_vocabulary()
        self._warn_unused()
        found = self._terms(texts)
        counted = (len(texts), found.terms, *occurrences(found)) if found.terms else None
        self._learn_vocabulary(len(texts), counted)
        return self._counts(found, self.vocabulary_)

    def fit_blocks(self, blocks: Any, *, backend: Any = None) -> Self:
        """Learn from ``pellucid.data.blocks(...)`` of one column of texts, on any backend.

        Each text counts once: weights of the blocks are for the models behind.
        """
        self._check_vocabulary()
        self._warn_unused()
        with map_of(backend) as map_:
            source = check_blocks(self, blocks, map_)
            for name in ("n_features_in_", "feature_names_in_"):  # of a table: texts have none
                self.__dict__.pop(name, None)
            cut = partial(cut_texts, self)
            statistic = Statistic(partial(leaf_occurrences, cut), merge_occurrences)
            found: Occurrences = reduce_rows(statistic, source, map_)
        counts = np.array(list(found.terms.values()), dtype=np.int64).reshape(-1, 2)
        counted = (found.texts, list(found.terms), *counts.T) if found.terms else None
        self._learn_vocabulary(found.texts, counted)
        self._keep_occurrences(found)
        return self

    def _keep_occurrences(self, found: Occurrences) -> None:
        """What else a leaf learns from the terms of blocks."""

    def _learn_vocabulary(self, n: int, counted: Any) -> None:
        """Set the vocabulary: the one given, or chosen among the terms that were counted."""
        self.fixed_vocabulary_ = self.vocabulary is not None
        if self.vocabulary is not None:
            self.vocabulary_ = given_vocabulary(self.vocabulary)
            self._warn_capitals()
        elif counted is None:
            raise ValueError("empty vocabulary: the texts hold no term, or only stop words")
        else:
            self.vocabulary_ = self._choose(*counted)
        self.n_texts_ = n

    def _warn_capitals(self) -> None:
        """Terms of a given vocabulary that no text in lower case can hold."""
        if self.lowercase and any(term != term.lower() for term in map(str, self.vocabulary_)):
            warn(
                "Upper case characters found in vocabulary while 'lowercase' is True. These "
                "entries will not be matched with any documents"
            )

    def _later_counts(self, raw_documents: Iterable[Any]) -> Any:
        """Counts of the vocabulary's terms in other texts."""
        self._need_vocabulary()
        return self._counts(self._terms(self._documents(raw_documents)), self.vocabulary_)

    def _need_vocabulary(self) -> None:
        """A given vocabulary needs no fit."""
        if hasattr(self, "vocabulary_"):
            return
        if self.vocabulary is None:
            raise NotFittedError("Vocabulary not fitted or provided: call fit first")
        self._check_vocabulary()
        self.vocabulary_ = given_vocabulary(self.vocabulary)
        self.fixed_vocabulary_ = True

    def _choose(self, n: int, terms: list[str], texts: IntArray, total: IntArray) -> dict[str, int]:
        """The sorted vocabulary after pruning, term to column."""
        limits = self.max_df, self.min_df
        most, least = (int(v) if isinstance(v, Integral) else v * n for v in limits)
        if most < least:
            few = f"{most:g} < {least:g} of {n}"
            raise ValueError(f"max_df corresponds to fewer texts than min_df: {few}")
        keep = (texts >= least) & (texts <= most)
        order = sorted(np.flatnonzero(keep).tolist(), key=terms.__getitem__)
        if self.max_features is not None and len(order) > self.max_features:
            often = np.argsort(-total[order], kind="stable")[: self.max_features]
            order = [order[i] for i in np.sort(often)]
        if not order:
            raise ValueError("no term is left after pruning: lower min_df or raise max_df")
        return {terms[i]: j for j, i in enumerate(order)}

    def _counts(self, found: Terms, vocabulary: dict[str, int]) -> Any:
        places = (vocabulary.get(term, -1) for term in found.terms)
        columns = np.fromiter(places, np.int64, len(found.terms))
        if len(columns) and columns.max() >= len(vocabulary):  # somebody has set vocabulary_
            raise ValueError(f"vocabulary_ names the column {columns.max()} of {len(vocabulary)}")
        return self._compressed(found, columns, len(vocabulary))

    def _compressed(self, found: Terms, columns: IntArray, width: int) -> Any:
        placed = columns[found.numbers] if len(columns) else found.numbers
        ends, entries, counts = count_words(placed, found.ends, width)
        if self.binary:
            counts = np.ones_like(counts)
        kind = np.int32 if max(width, len(entries)) < 2**31 else np.int64
        data = (counts.astype(self.dtype), entries.astype(kind), ends.astype(kind))
        X = csr_matrix(data, shape=(len(found.ends), width))
        X.sort_indices()
        return X

    def _check_vocabulary(self) -> None:
        """Refuse bad parameters of the vocabulary and of the cutting."""
        self._check_stages()
        if self.vocabulary is not None and isinstance(self.vocabulary, str):
            raise ValueError(f"vocabulary must be a mapping or terms, got {self.vocabulary!r}")
        if self.max_features is not None:
            check.whole(max_features=self.max_features)
        for name, limit in (("min_df", self.min_df), ("max_df", self.max_df)):
            if isinstance(limit, Integral):
                check.whole(at_least=0 if name == "min_df" else 1, **{name: limit})
            else:
                check.non_negative(**{name: limit})
                if limit > 1:
                    raise ValueError(f"{name} as a share must be at most 1, got {limit!r}")

    def inverse_transform(self, X: Matrix) -> list[Any]:
        """The terms with non-zero counts of each row."""
        names = self.get_feature_names_out()
        X = row_table(X) if issparse(X) else csr_matrix(X)
        rows = zip(X.indptr[:-1], X.indptr[1:], strict=True)
        return [names[np.sort(X.indices[a:b])] for a, b in rows]

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> Any:
        """The terms in the order of their columns."""
        self._need_vocabulary()
        names = np.empty(len(self.vocabulary_), dtype=object)
        for term, j in self.vocabulary_.items():
            names[j] = term
        return names


def cut_texts(model: TextModel, X: Any) -> Terms:
    """The terms of one leaf of texts."""
    return model._terms(model._documents(X))


def given_vocabulary(vocabulary: Mapping[str, int] | Iterable[str]) -> dict[str, int]:
    """Term to column from a mapping or an iterable of terms."""
    if isinstance(vocabulary, Mapping):
        columns = set(vocabulary.values())
        need = f"terms have the columns 0 to {len(vocabulary) - 1}, each once"
        if len(columns) < len(vocabulary):
            raise ValueError(f"Vocabulary contains repeated indices: {need}")
        for j in range(len(vocabulary)):
            if j not in columns:
                size = f"of size {len(vocabulary)}"
                raise ValueError(f"Vocabulary {size} doesn't contain index {j}: {need}")
        found = {str(term): int(j) for term, j in vocabulary.items()}
    else:
        terms = sorted(vocabulary) if isinstance(vocabulary, set) else list(vocabulary)
        twice = [term for term, times in Counter(terms).items() if times > 1]
        if twice:
            raise ValueError(f"Duplicate term in vocabulary: {twice[0]!r}")
        found = {term: j for j, term in enumerate(terms)}
    if not found:
        raise ValueError("empty vocabulary passed to fit")
    return found
