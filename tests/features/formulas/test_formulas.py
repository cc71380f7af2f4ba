"""The language of formulas: formulaic reads the same ones; nothing else is read at all."""

import formulaic
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from pellucid.features.formulas.design import Rows, make_design
from pellucid.features.formulas.language import read_formula, written
from pellucid.features.formulas.states import check_states

rng = np.random.default_rng(0)
N = 40
FRAME = pd.DataFrame(
    {
        "x": rng.exponential(size=N),
        "z": rng.integers(0, 3, N),
        "g": rng.choice(list("abc"), N),
        "h": rng.choice(list("uv"), N),
        "b": rng.random(N) > 0.5,
        "k": pd.Categorical(rng.choice(list("pq"), N), categories=["q", "p"]),
        "a b": rng.normal(size=N),
    }
)
FORMULAS = """
x+z; x - 1; 0 + x; x + 0; x - 1 + 1; 1; -x; x - 0; `a b`; {x**2}; I(x  **2) + poly(x,2)+np.log( x )
b; b:x; g; g - 1; k; C(b); C(z); C(g)-1 + C(h); x:g; g:h; g*h; g:h - 1; k*g - 1; g:h:k; g:h:k + g:k
x*g*h - x; (x+z+g)**2; (x+z+g)^3 - g; x**2; x/z; x/(z+g); (x+z)/g; (x+z):g; x:z + z:x; x+(z-x)
x + x:g; g + x:g; g:x:h; g:h:x + h; C(g):x + C(g); scale(x):g; center(x)*z; standardize(x); I(b*1)
bs(x,df=4); bs(x,df=5,include_intercept=True); bs(x,df=6,include_intercept=True)-1; poly(x,2)*g
bs(x, knots=[0.5,1.0],degree=2); scale(x,scale=False); log(center(x)**2+1); exp(-x); log10(x)
np.sqrt(x)+np.abs(z-1); I(-x**2/3+x*(z-1)) + I((x+z)*2) + I(x/(z+1)/2) + I(x-(z-1)); .; . - g
I(2**x**0.5)+I((-x)**2); g:h + g; h:g + g + h:x; k:x:z + k; poly(x, 1):poly(z, 2)
"""


def design(formula, frame=FRAME, states=None):
    rows = Rows(frame, {} if states is None else states, training=states is None)
    return make_design(formula, rows, rows.names), rows.states


@pytest.mark.parametrize(
    "formula", [f.strip() for f in FORMULAS.replace("\n", ";").split(";") if f]
)
def test_formulaic(formula):
    """The same columns under the same names in the same order."""
    theirs = formulaic.model_matrix(formula, FRAME)
    ours, states = design(formula)
    names = [name for name in theirs.columns if name != "Intercept"]
    assert list(ours.names) == names
    assert ours.constant == ("Intercept" in theirs.columns)
    assert_allclose(ours.matrix, theirs[names].to_numpy(float), rtol=1e-9, atol=1e-12)
    check_states(formula, states, list(FRAME))
    new = FRAME.sample(9, random_state=1)
    assert_allclose(
        design(formula, new, states)[0].matrix,
        theirs.model_spec.get_model_matrix(new)[names].to_numpy(float),
        rtol=1e-9,
        atol=1e-12,
    )


def test_polars_gives_the_same_columns():
    table = pl.from_pandas(FRAME).with_columns(pl.col("k").cast(pl.Enum(["q", "p"])))
    a, b = design("g*x + k + b + C(z)", table)[0], design("g*x + k + b + C(z)")[0]
    assert a.names == b.names
    assert np.array_equal(a.matrix, b.matrix)


@pytest.mark.parametrize("scale", [1e-300, 1e-9, 1e9, 1e300])
def test_units_do_not_matter(scale):
    for text in ("scale(x)", "poly(x, 3)", "standardize(x)", "bs(x, df=5)"):
        plain, other = design(text)[0], design(text, FRAME.assign(x=FRAME["x"] * scale))[0]
        assert_allclose(other.matrix, plain.matrix, rtol=1e-7, atol=1e-9)


REFUSED = {
    "x +": "found the end",
    "": "found the end",
    "x ~ z": "'~' has no meaning",
    "x; z": "';' has no meaning",
    "f(x)": "no function 'f'",
    "lag(x)": "no function 'lag'.*it can call C, I, Q, log",
    "logg(x)": "did you mean 'log'",
    "2": "a number is 0 or 1, got 2",
    "(x + z)**99": "power of terms",
    "x**z": "power of terms must be a number, got z",
    "(" * 60 + "x" + ")" * 60: "nested deeper than 40",
    "-" * 60 + "x": "nested deeper than 40",
    "x:" * 400 + "x": "more than 200 operators",
    "I(x" + "+x" * 400 + ")": "more than 200 operators",
    "a" * 20_000: "at most 10000 characters",
    "I(9**9**9**9)": "not a finite number",
    "log(z)": "log\\(z\\) is not a finite number in row",
    "log(x, 2)": "takes one argument",
    "C(g, contr.sum)": "C takes one column",
    "poly(x, 99999999)": "degree must be at most 100",
    "poly(x, z)": "z is no constant",
    "poly(z, 3)": "needs more than 3 distinct values",
    "bs(x, df=2)": "df must be a whole number >= 3",
    "bs(x, df=5, knots=[1])": "df or knots",
    "bs(x, knots=[-1])": "knots must rise and lie within",
    "ns(x, df=3, foo=1)": "unexpected keyword argument 'foo'",
    "scale()": "needs a column",
    "scale(I(0*x))": "constant column has no scale",
    "center(g)": "holds text such as",
    "`no such column`": "lacks it",
    "x + 'a'": "has no meaning there",
    "log(x": "was expected",
    "poly(x, degree=2, 3)": "comes after an option",
}


@pytest.mark.parametrize("formula", REFUSED)
def test_refusals(formula):
    with pytest.raises(ValueError, match=REFUSED[formula]):
        design(formula)


def test_a_sum_of_many_terms():
    assert design("x" + "+x" * 4000 + "-x" * 900)[0].names == ()


@given(st.text(alphabet="xzgh.+-*/:^(){}[]`'\"= ,019eCI_poly\\~;@", max_size=40))
def test_any_text_is_read_or_refused(text):
    """Reading what was written gives the same tree; anything else is a ValueError."""
    try:
        node = read_formula(text)
        found = design(text)[0]
    except ValueError:
        return
    assert found.matrix.shape == (N, len(found.names))
    assert np.isfinite(found.matrix).all()
    if "`" not in text:
        assert written(read_formula(written(node))) == written(node)


@pytest.mark.parametrize(
    "forged",
    [
        {"poly(x, 2)": {}},
        {"poly(x, 2)": {"unit": 0, "places": np.ones(2), "sizes": np.ones(2)}},
        {"bs(x, df=4)": {"knots": np.ones(3)}},
        {"bs(x, df=4)": {"knots": np.array([3.0, 2.0] * 5)}},
        {"bs(x, df=4)": {"knots": "text"}},
        {"g": {"levels": [object()]}},
        {"g": {"knots": np.ones(9)}},
        {"scale(x)": {"unit": 10**9, "mean": 0.0, "spread": 1.0}},
    ],
)
def test_states_from_a_forged_file(forged):
    formula = next(iter(forged))

    def use():
        check_states(formula, forged, list(FRAME))
        design(formula, FRAME, forged)

    with pytest.raises(ValueError, match=r"learned|knots|of g|state of|unit of"):
        use()
