"""Naive Bayes: the features are independent within a class.

>>> from pellucid.naive_bayes import GaussianNB
>>> GaussianNB().fit([[1.0], [2.0], [6.0], [7.0]], [0, 0, 1, 1]).predict([[3.0]])
array([0])
"""

from pellucid._lazy import lazy_names

_HOME = {
    "BernoulliNB": "bernoulli",
    "CategoricalNB": "categorical",
    "ComplementNB": "complement",
    "GaussianNB": "gaussian",
    "MixedNB": "mixed",
    "MultinomialNB": "multinomial",
    "TextNB": "text",
    "UnseenFeatureWarning": "gaussian",
    "ZeroCountWarning": "counts",
    "ZeroVarianceWarning": "gaussian",
}

__getattr__, __dir__, __all__ = lazy_names(__name__, _HOME)
