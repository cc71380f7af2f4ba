r"""Naive Bayes on texts: words in, labels out.

A text is the counts of its words (or runs of words), as ``CountVectorizer`` cuts them; the counts
go to one of the models of this package:

    multinomial   log p(text, k) = log pi_k + sum over its words of log theta_k,word
    bernoulli     which words occur and which do not
    complement    weights from all classes but k

Words are numbered by compiled code (features.words); Python touches every distinct word once.
Words outside the vocabulary are ignored; a text without a known word gets the prior. Every call
of ``partial_fit`` may bring new words: the vocabulary grows and the counts move to their new
columns, so that the fit is that of all texts at once.

References: Manning, Raghavan & Schuetze (2008), chapter 13.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Classifier, check_labels, check_weights, encode_labels, with_callbacks
from pellucid.compiled.counts.words import count_words
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Numbers, Seed
from pellucid.core.loops.iterate import FitContext
from pellucid.core.records import Card
from pellucid.features.text.terms import Terms, grams, scan
from pellucid.features.text.vocabulary import given_vocabulary
from pellucid.inference.decisions.linear_rule import encode_known
from pellucid.naive_bayes.bernoulli import BernoulliNB
from pellucid.naive_bayes.complement import ComplementNB
from pellucid.naive_bayes.multinomial import MultinomialNB

MODELS = {"multinomial": MultinomialNB, "bernoulli": BernoulliNB, "complement": ComplementNB}
LETTERS = 2  # a word is two or more word characters


def cut_words(texts: list[str], lowercase: bool, ngram_range: tuple[int, int]) -> Terms:
    """Every word of every text, numbered.

    >>> cut_words(["Buy cheap", "cheap"], True, (1, 1)).terms
    ['buy', 'cheap']
    """
    prepared = [text.lower() for text in texts] if lowercase else texts
    return grams(scan(prepared, LETTERS), *ngram_range)


def count_matrix(found: Terms, vocabulary: dict[str, int]) -> Any:
    """Counts of the known words, sparse (texts, words)."""
    known = (vocabulary.get(term, -1) for term in found.terms)
    columns = np.fromiter(known, np.int64, len(found.terms))
    placed = columns[found.numbers] if len(columns) else found.numbers
    ends, entries, counts = count_words(placed, found.ends, len(vocabulary))
    shape = (len(found.ends), len(vocabulary))
    kind = np.int32 if max(len(entries), shape[1]) < 2**31 else np.int64
    data = (counts.astype(np.float64), entries.astype(kind), ends.astype(kind))
    return csr_array(data, shape=shape)


class TextNB(Classifier):
    """Naive Bayes on strings: counts words and classifies by them.

    Parameters
    ----------
    model : {"multinomial", "bernoulli", "complement"}, default="multinomial"
        Which naive Bayes classifies the counts.
    alpha : float or array of pseudo-counts, default=1.0
        As in the model; arrays follow the order of the vocabulary.
    fit_prior : bool, default=True
        Whether the prior is the shares of the classes; False: all equal.
    lowercase : bool, default=True
        Whether "The" and "the" are one word.
    ngram_range : tuple (low, high), default=(1, 1)
        Runs of ``low`` to ``high`` words are counted.
    vocabulary : mapping, iterable or None, default=None
        The words, fixed beforehand; None: those of the training texts, sorted.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    vocabulary_ : dict, word to column
    feature_log_prob_, feature_count_ : ndarray of shape (n_classes, n_words)
    class_count_, class_log_prior_ : ndarray of shape (n_classes,)
    model_ : the fitted model of the counts

    Examples
    --------
    >>> from pellucid import TextNB
    >>> model = TextNB().fit(["buy cheap buy", "cheap now", "meet now"], ["spam", "spam", "ham"])
    >>> model.predict(["cheap now"]), model.predict_proba(["cheap now"]).round(4)
    (array(['spam'], dtype='<U4'), array([[0.2727, 0.7273]]))
    >>> model.telling_words(2)["ham"]
    ['meet', 'now']
    """

    _answers_nonfinite = True  # log 0 of a row that cannot be

    def __init__(
        self,
        model: str = "multinomial",
        *,
        alpha: Numbers = 1.0,
        fit_prior: bool = True,
        lowercase: bool = True,
        ngram_range: tuple[int, int] = (1, 1),
        vocabulary: Mapping[str, int] | Iterable[str] | None = None,
    ) -> None:
        self.model = model
        self.alpha = alpha
        self.fit_prior = fit_prior
        self.lowercase = lowercase
        self.ngram_range = ngram_range
        self.vocabulary = vocabulary

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from ``X`` and, where given, ``y``; returns the fitted model."""
        found = self._terms(X)
        labels = check_labels(y, len(found.ends), self)
        context = FitContext.of_one_step(self, X, y, sample_weight)
        self.classes_, _ = encode_labels(labels)
        self.vocabulary_ = self._words(found, {})
        self.model_ = MODELS[self.model](alpha=self.alpha, fit_prior=self.fit_prior)
        counts = count_matrix(found, self.vocabulary_)
        self.model_.fit(counts, labels, check_weights(sample_weight, counts))
        context.end()
        return self

    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Add texts to the fit; new words join the vocabulary.

        ``classes`` lists all labels and is needed in the first call unless ``fit`` came before.
        """
        found = self._terms(X)
        labels = check_labels(y, len(found.ends), self)
        if not hasattr(self, "model_"):
            if classes is None:
                raise ValueError("classes must be passed on the first call to partial_fit.")
            known = np.unique(np.asarray(classes))
            encode_known(labels, known)
            self.classes_, self.vocabulary_ = known, self._words(found, {})
            self.model_ = MODELS[self.model](alpha=self.alpha, fit_prior=self.fit_prior)
        else:
            self._grow(self._words(found, self.vocabulary_))
        counts = count_matrix(found, self.vocabulary_)
        self.model_.partial_fit(counts, labels, self.classes_, sample_weight)
        return self

    def _grow(self, words: dict[str, int]) -> None:
        """Move the counts of the model to the columns of a larger vocabulary."""
        if len(words) == len(self.vocabulary_):
            return
        columns = np.fromiter((words[term] for term in self.vocabulary_), np.intp)
        old = np.fromiter(self.vocabulary_.values(), np.intp)
        for name in ("feature_count_", "missing_count_"):
            if hasattr(self.model_, name):
                table = np.zeros((len(self.classes_), len(words)))
                table[:, columns] = getattr(self.model_, name)[:, old]
                setattr(self.model_, name, table)
        self.model_.n_features_in_, self.vocabulary_ = len(words), words

    def _words(self, found: Terms, known: dict[str, int]) -> dict[str, int]:
        if self.vocabulary is not None:
            return given_vocabulary(self.vocabulary)
        terms = sorted(known.keys() | set(found.terms)) if known else sorted(found.terms)
        if not terms:
            raise ValueError("the vocabulary is empty: the texts hold no word of two letters")
        return {term: j for j, term in enumerate(terms)}

    def _terms(self, X: Any) -> Terms:
        check.one_of(tuple(MODELS), model=self.model)
        check.boolean(lowercase=self.lowercase)
        low, high = self.ngram_range
        if not 1 <= low <= high:
            raise ValueError(f"ngram_range must be (low, high), 1 <= low <= high, got {low, high}")
        if isinstance(X, str | bytes):
            raise ValueError("a list of texts is needed, got one text: put it into a list")
        texts = list(X)
        if not texts:
            raise ValueError("there is no text (0 sample(s)): at least one is needed")
        for i, text in enumerate(texts):
            if not isinstance(text, str):
                what = f"{text!r} of type {type(text).__name__} in row {i}"
                raise ValueError(f"a text is needed, got {what}; fill missing texts first")
        return cut_words(texts, self.lowercase, self.ngram_range)

    def _ask(self, method: str, X: ArrayLike) -> Any:
        """What the model of the counts says of the texts."""
        check_is_fitted(self)
        return getattr(self.model_, method)(count_matrix(self._terms(X), self.vocabulary_))

    def predict(self, X: ArrayLike) -> Any:
        """Predict for each row of ``X``."""
        return self._ask("predict", X)

    def predict_proba(self, X: ArrayLike) -> Array:
        """P(k | text), shape (n, K)."""
        return self._ask("predict_proba", X)

    def predict_log_proba(self, X: ArrayLike) -> Array:
        """log P(k | text), shape (n, K)."""
        return self._ask("predict_log_proba", X)

    def predict_joint_log_proba(self, X: ArrayLike) -> Array:
        """log p(text, k), shape (n, K), not normalised."""
        return self._ask("predict_joint_log_proba", X)

    def score_samples(self, X: ArrayLike) -> Array:
        """The log evidence of each text, shape (n,)."""
        return self._ask("score_samples", X)

    def explain(self, X: ArrayLike) -> Array:
        """The part of every word of the vocabulary in the joint, shape (n, K, n_words)."""
        return self._ask("explain", X)

    def sample(self, n_samples: int = 1, random_state: Seed = None) -> tuple[list[str], Any]:
        """Draw (texts, labels); the words of a text are in the order of the vocabulary."""
        check_is_fitted(self)
        counts, labels = self.model_.sample(n_samples, random_state)
        words = self._vocabulary_list()
        texts = [" ".join(np.repeat(words, row.astype(np.intp)).tolist()) for row in counts]
        return texts, labels

    def telling_words(self, n: int = 10) -> dict[Any, list[str]]:
        """The n words of each class with the largest log ratio to the next class."""
        check_is_fitted(self)
        check.whole(n=n)
        logs = np.maximum(self.feature_log_prob_, np.log(np.finfo(np.float64).tiny))
        words, found = self._vocabulary_list(), {}
        for k, label in enumerate(self.classes_.tolist()):
            others = np.delete(logs, k, axis=0)
            ratio = logs[k] - others.max(axis=0) if len(others) else logs[k]
            found[label] = words[np.argsort(-ratio, kind="stable")[:n]].tolist()
        return found

    def _vocabulary_list(self) -> Any:
        words = np.empty(len(self.vocabulary_), dtype=object)
        words[list(self.vocabulary_.values())] = list(self.vocabulary_)
        return words

    @property
    def feature_log_prob_(self) -> Array:
        """The table of the model of the counts."""
        return self.model_.feature_log_prob_

    @property
    def feature_count_(self) -> Array:
        """Counts of each word in each class."""
        return self.model_.feature_count_

    @property
    def class_count_(self) -> Array:
        """Sum of the weights of each class."""
        return self.model_.class_count_

    @property
    def class_log_prior_(self) -> Array:
        """Logarithm of the prior of each class."""
        return self.model_.class_log_prior_

    def _check_state(self) -> None:
        if hasattr(self, "model_"):
            columns = sorted(self.vocabulary_.values())
            if columns != list(range(self.model_.n_features_in_)):
                raise ValueError("vocabulary_ does not fit the model of the counts")

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers.

        >>> TextNB().fit(["good day", "bad day"], [1, 0]).card().numbers["words"]
        3
        """
        check_is_fitted(self)
        inner = self.model_.card()
        low, high = self.ngram_range
        runs = "words" if high == 1 else f"runs of {low} to {high} words"
        said = f"a text is the counts x of its {runs}; {inner.representation}"
        numbers = inner.numbers | {"words": len(self.vocabulary_)}
        return inner._replace(representation=said, numbers=numbers)
