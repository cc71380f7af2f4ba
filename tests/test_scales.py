"""Any scale of X, of one column, of new rows or of y gives an answer or a sentence.

At every scale an estimator gives finite numbers, or warns, or raises ValueError or TypeError with a
sentence. NaN without a word, any other error, and a sparse result that points outside are faults.
"""

import pytest
from estimators import make, names
from scales import CASES, faults_of
from sklearn.utils import get_tags


def reads_numbers(cls):
    """Whether X is a table or one column of numbers; documents and labels have no scale."""
    tags = get_tags(make(cls)).input_tags
    return tags.two_d_array or (tags.one_d_array and not tags.string)


SHARE = 7  # of the cases, one in so many is in the normal run
ALL = [(name, what, scale) for name in names(reads_numbers) for what, scale in CASES]


@pytest.mark.parametrize(("name", "what", "scale"), ALL[::SHARE])
def test_a_share_of_the_scales(name, what, scale):
    fault = faults_of(name, what, scale)
    assert fault is None, fault


@pytest.mark.slow
@pytest.mark.parametrize("name", names(reads_numbers))
def test_every_scale(name):
    found = {case: fault for case in CASES if (fault := faults_of(name, *case)) is not None}
    assert not found, found
