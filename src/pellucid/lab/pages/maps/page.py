"""Kernel PCA: hills round every row, their Gram matrix, and its directions.

What breaks it: hills so wide that all rows are alike, or so narrow that none are.
"""

from typing import Any

from pellucid import KernelPCA
from pellucid.core.arrays.typing import Rng
from pellucid.kernel import GaussianKernel
from pellucid.lab.controls import choice, slider
from pellucid.lab.drawing import number, row_points, rows_code, told
from pellucid.lab.page import LabData, given, make_page, read_presets
from pellucid.lab.pages.maps import parts
from pellucid.lab.pages.maps.parts import MOST, Space
from pellucid.lab.pages.samples import moons, rings
from pellucid.lab.scene import plane
from pellucid.lab.trace import Trace

OBJECTIVE = "share of the variance that the components leave out"
CODE = f"""from pellucid import KernelPCA
from pellucid.kernel import GaussianKernel

model = KernelPCA({MOST}, kernel=GaussianKernel({{!r}})).fit(X)
K = GaussianKernel({{!r}})(X, X)
total = float(K.trace() - K.mean() * len(K))  # of the centred Gram matrix
objective = float(1 - model.eigenvalues_.sum() / total)
"""


def run(data: LabData | None, params: dict[str, Any], seed: int) -> Trace:
    """A hill, the Gram matrix, the centred one, then one direction after the other."""
    assert data is not None
    X, _ = data.train
    sigma = params["sigma"]
    kernel = GaussianKernel(sigma)
    model = KernelPCA(MOST, kernel=kernel).fit(X)
    space = Space.of(data, model, kernel)
    frames = (
        parts.hill(space),
        parts.gram(space),
        parts.centred(space),
        *(parts.component(space, d) for d in range(1, MOST + 1)),
    )
    title = "Rows and hills"
    look = {"x": data.names[0], "y": data.names[1], "box": space.box}
    alt = "The rows by class; the classes are not used."
    rows = plane("data", [row_points(data)], title=title, alt=alt, **look)
    words = ("Kernel principal components", OBJECTIVE, verdict(frames, space))
    code = rows_code(data) + CODE.format(sigma, sigma)
    card, shown = model.card().to_dict(), told(data, "classes", [rows])
    return Trace("KernelPCA", params, shown, card, frames, *words, code)


def verdict(frames: Any, space: Space) -> str:
    """A sentence for the end."""
    one, wrong = space.share(1), frames[3].numbers["wrong at the best cut of z1"]
    if one < 2.5 / len(space.X):
        return (
            f"Every row is like itself only: {len(space.X)} directions, each as good as the others "
            f"(the first holds {number(one)})."
        )
    return f"The first direction holds {number(one)} of the variance; one cut of it leaves " + (
        f"{number(wrong)} of the rows on the wrong side."
    )


SUMMARY = """
PCA of rows that a kernel has lifted: directions of the lifted space are curved maps of the plane.
"""
CONTROLS = (
    choice("method", "Method", ("kernel PCA",)),
    slider("sigma", "Width σ of a hill", 0.7, 0.03, 20.0, log=True),
)


def two_rings(rng: Rng) -> LabData:
    return rings(rng, 90, 0.15)


def two_moons(rng: Rng) -> LabData:
    return moons(rng, 90, 0.08)


PRESETS = read_presets(
    """
A disc in a ring | No line through the plane tells the two apart; the first direction of the lifted
    rows does.
Two moons | The directions follow the moons, but none of the four parts them: a wide spread is not
    the same as a class.
! Hills too wide | With σ far larger than the picture all rows are alike, and what is left is a
    tilted plane: ordinary PCA.
! Hills too narrow | With σ far below the distance of neighbours every row is like itself only, and
    all directions are equally good.
""",
    given(two_rings, sigma=0.7),
    given(two_moons, sigma=0.4),
    given(two_rings, sigma=20.0),
    given(two_rings, sigma=0.03),
)
PAGE = make_page("maps", "classes", run, SUMMARY, CONTROLS, PRESETS)
