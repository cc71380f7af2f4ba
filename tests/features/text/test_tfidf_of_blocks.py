"""TfidfTransformer on blocks: whole numbers are summed, so every bit is that of arrays."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.pipeline import make_pipeline

import pellucid
from pellucid import TfidfTransformer
from pellucid.core.loops.statistics import LEAF_ROWS
from pellucid.data import blocks

COUNTS = np.random.default_rng(0).poisson(0.3, size=(2 * LEAF_ROWS + 99, 5)).astype(float)


@pytest.mark.parametrize("options", [{}, {"smooth_idf": False}, {"use_idf": False}])
@pytest.mark.parametrize("table", [COUNTS, sp.csr_array(COUNTS)], ids=["dense", "sparse"])
def test_blocks_give_the_bits_of_arrays(table, options):
    expected = TfidfTransformer(**options).fit(table)
    for rows in (777, LEAF_ROWS, 65_536):
        model = TfidfTransformer(**options).fit_blocks(blocks(table, block_rows=rows))
        assert vars(model).keys() == vars(expected).keys()
        assert model.n_texts_ == expected.n_texts_ == len(COUNTS)
        if model.use_idf:
            assert model.idf_.tobytes() == expected.idf_.tobytes()
        assert_array_equal(model.transform(COUNTS).data, expected.transform(COUNTS).data)


def test_more_columns_than_zeros_that_could_be_written_out():
    few = sp.eye_array(LEAF_ROWS, 40_000, format="csr")  # 1.3 GB with its zeros
    model = TfidfTransformer().fit_blocks(blocks(few))
    assert_array_equal(model.idf_, TfidfTransformer().fit(few).idf_)


def test_several_numbers_at_one_place_are_their_sum():
    twice = sp.csr_array((np.array([1.0, -1.0, 2.0]), np.array([0, 0, 1]), np.array([0, 3])))
    assert TfidfTransformer().fit_blocks(blocks(twice)).idf_[0] == pytest.approx(1 + np.log(2))


def test_places_outside_and_bad_counts_are_refused():
    bad = sp.csr_array(COUNTS)
    bad.data[3] = np.nan
    with pytest.raises(ValueError, match=r"contains NaN in row \d; TfidfTransformer accepts"):
        TfidfTransformer().fit_blocks(blocks(bad))
    outside = sp.csr_array(COUNTS[:50])
    outside.indices[2] = 9
    with pytest.raises(ValueError, match="a number in column 9"):
        TfidfTransformer().fit_blocks(blocks(outside))


def test_before_a_model_in_a_pipeline():
    y = COUNTS[:, 0] > COUNTS[:, 1]
    steps = make_pipeline(TfidfTransformer(norm=None), pellucid.MultinomialNB())
    model = pellucid.fit_blocks(steps, blocks(sp.csr_array(COUNTS), target=y, block_rows=777))
    assert model[0].idf_.tobytes() == TfidfTransformer().fit(COUNTS).idf_.tobytes()
    assert np.mean(model.predict(COUNTS) == y) > 0.8
