"""How often the verdict and the interval of the score are right, over many simulated studies.

    200 shuffled targets          at most 5 % are claimed
    40 planted signals, R2 = 0.3  at most 5 % are denied
    1,000 intervals of 95 %       93 to 97 % cover; a thousand, since 200 can only say 92 to 98

The whole counts are for ``make test-all``, in cases of ten studies that many processes share
(``tally``); ``make test`` takes a few seeds of each.
"""

import pytest
from scipy.special import bdtr
from verdict_rates import KINDS, claims, count, denies, holds_truth, study

BLOCK = 10
CASES = {
    "claims a shuffled target": [(kind, b) for kind in KINDS for b in range(4)],
    "covers": [(kind, b) for kind in KINDS for b in range(20)],
    "denies a signal": [("number", b) for b in range(4)],
}


@pytest.mark.parametrize("kind", KINDS)
def test_shuffled_targets_are_not_claimed_and_plain_ones_are(kind):
    assert not any(claims(kind, seed) for seed in (0, 1))
    record, rng = study(kind, 250, 0)
    assert record.verdict.kind == "shown"
    assert holds_truth(kind, record, rng) is not None


def test_a_third_of_the_variance_is_not_denied():
    assert not any(denies("number", seed) for seed in range(3))


def added_up(tally, question, kind, block):
    """(yes, studies) of all cases of a question, once they are complete; else None."""
    found = count(question, kind, range(BLOCK * block, BLOCK * (block + 1)))
    return tally.add(question, f"{kind}, {block}", found, len(CASES[question]))


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "block"), CASES["claims a shuffled target"])
def test_at_most_one_shuffled_study_in_twenty_claims_something(kind, block, tally):
    total = added_up(tally, "claims a shuffled target", kind, block)
    assert total is None or total[0] <= 0.05 * total[1], total


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "block"), CASES["denies a signal"])
def test_a_planted_signal_is_denied_in_at_most_one_study_in_twenty(kind, block, tally):
    total = added_up(tally, "denies a signal", kind, block)
    assert total is None or total[0] <= 0.05 * total[1], total


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "block"), CASES["covers"])
def test_intervals_cover_as_often_as_they_say(kind, block, tally):
    total = added_up(tally, "covers", kind, block)
    own = tally.total(f"covers, {kind}", 20)
    assert own is None or bdtr(*own, 0.95) > 1e-3, f"{kind}: {own}"
    if total is not None:
        assert total[1] > 0.9 * BLOCK * len(CASES["covers"])
        assert 0.93 <= total[0] / total[1] <= 0.97, total
