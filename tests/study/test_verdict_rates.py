"""How often the verdict and the interval of the score are right, over many simulated studies.

    200 shuffled targets          at most 5 % are claimed
    40 planted signals, R2 = 0.3  at most 5 % are denied
    1,000 intervals of 95 %       93 to 97 % cover; a thousand, since 200 can only say 92 to 98

The whole counts are for ``make test-all``, in cases of ten studies; each case leaves its count in
the folder of the run, and the one that completes them judges the sum, whichever process ran it.
``make test`` takes a few seeds of each.
"""

import json
import os

import pytest
from scipy.special import bdtr, bdtrc
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


@pytest.fixture(scope="session")
def counts(tmp_path_factory):
    """The folder that every process of this run shares."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base) / "verdict-rates"
    folder.mkdir(exist_ok=True)
    return folder


def added_up(question, kind, block, counts):
    """Count this case, and add up the cases of its question: (yes, studies, are they all?)."""
    found = count(question, kind, range(BLOCK * block, BLOCK * (block + 1)))
    path = counts / f"{question}, {kind}, {block}.json"
    draft = path.with_suffix(".draft")
    draft.write_text(json.dumps(found))
    draft.replace(path)
    parts = [json.loads(one.read_text()) for one in counts.glob(f"{question}, *.json")]
    yes, n = (sum(column) for column in zip(*parts, strict=True))
    return found, yes, n, len(parts) == len(CASES[question])


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "block"), CASES["claims a shuffled target"])
def test_at_most_one_shuffled_study_in_twenty_claims_something(kind, block, counts):
    found, yes, n, complete = added_up("claims a shuffled target", kind, block, counts)
    assert bdtrc(found[0] - 1, found[1], 0.05) > 1e-4, found
    if complete:
        assert yes <= 0.05 * n, f"{yes} of {n}"


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "block"), CASES["denies a signal"])
def test_a_planted_signal_is_denied_in_at_most_one_study_in_twenty(kind, block, counts):
    found, yes, n, complete = added_up("denies a signal", kind, block, counts)
    assert bdtrc(found[0] - 1, found[1], 0.05) > 1e-4, found
    if complete:
        assert yes <= 0.05 * n, f"{yes} of {n}"


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "block"), CASES["covers"])
def test_intervals_cover_as_often_as_they_say(kind, block, counts):
    found, yes, n, complete = added_up("covers", kind, block, counts)
    assert bdtr(*found, 0.95) > 1e-5, found
    if complete:
        assert n > 0.9 * BLOCK * len(CASES["covers"])
        assert 0.93 * n <= yes <= 0.97 * n, f"{yes} of {n}"
