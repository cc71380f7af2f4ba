"""Generated from the table in __init__.py by `make stubs`; do not edit."""

from pellucid.naive_bayes.bernoulli import BernoulliNB as BernoulliNB
from pellucid.naive_bayes.categorical import CategoricalNB as CategoricalNB
from pellucid.naive_bayes.complement import ComplementNB as ComplementNB
from pellucid.naive_bayes.counts import ZeroCountWarning as ZeroCountWarning
from pellucid.naive_bayes.gaussian import GaussianNB as GaussianNB
from pellucid.naive_bayes.gaussian import UnseenFeatureWarning as UnseenFeatureWarning
from pellucid.naive_bayes.gaussian import ZeroVarianceWarning as ZeroVarianceWarning
from pellucid.naive_bayes.mixed import MixedNB as MixedNB
from pellucid.naive_bayes.multinomial import MultinomialNB as MultinomialNB
from pellucid.naive_bayes.text import TextNB as TextNB

__all__: list[str]
_HOME: dict[str, str]
