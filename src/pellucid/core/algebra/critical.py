r"""What kind of point is this? The second-order certificate of a stationary point.

    gradient = 0 and H positive definite          local minimum
    gradient = 0 and H negative definite          local maximum
    gradient = 0 and H with both signs            saddle point
    gradient = 0 and H semidefinite               undecided
    f convex and gradient = 0                     global minimum, unique when H is positive definite

Reference: Nocedal & Wright, Numerical Optimization, section 2.1.
"""

from typing import NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array
from pellucid.core.readable import readable

SLACK = 10.0  # a Hessian is itself a sum with rounding


@readable
class CriticalPoint(NamedTuple):
    """The kind of a point, with the evidence.

    >>> print(certify(1e-9, np.diag([2.0, 4.0]), tol=1e-5, convex=True))
    global minimum, unique: gradient norm 1e-09, eigenvalues of the Hessian 2 to 4, all positive
    """

    kind: str  # such as "local minimum"
    gradient_norm: float  # 0 at a stationary point
    eigenvalues: Array  # ascending; empty where the Hessian was not looked at

    def __str__(self) -> str:
        text = f"{self.kind}: gradient norm {self.gradient_norm:.3g}"
        if len(self.eigenvalues):
            seen = np.abs(self.eigenvalues) > rounding(self.eigenvalues)
            low, high = np.where(seen, self.eigenvalues, 0.0)[[0, -1]]
            text += f", eigenvalues of the Hessian {low:.6g} to {high:.6g}{self._reason()}"
        return text

    def _reason(self) -> str:
        """Why the eigenvalues make it this kind."""
        reasons = {
            "local minimum": ", all positive",
            "global minimum, unique": ", all positive",
            "local maximum": ", all negative",
            "saddle point": ": up in some directions, down in others",
            "undecided": ": flat in some direction, where higher derivatives decide",
        }
        return reasons.get(self.kind, "")


def rounding(eigenvalues: Array) -> float:
    """The size below which an eigenvalue of a symmetric matrix is 0 to rounding.

    >>> rounding(np.array([-4e-17, 24.0])) > 4e-17
    True
    """
    largest = float(np.abs(eigenvalues).max(initial=0.0))
    return SLACK * len(eigenvalues) * float(np.finfo(np.float64).eps) * largest


def certify(
    gradient_norm: float,
    hessian: Array | None,
    *,
    tol: float = 1e-5,
    convex: bool = False,
    small: float | None = None,
) -> CriticalPoint:
    """Judge a point by its gradient norm and Hessian (None: only first order).

    Eigenvalues of at most ``small`` count as 0: rounding of the largest, or the given error.

    >>> certify(0.0, np.diag([2.0, -4.0])).kind
    'saddle point'
    """
    values: Array = np.zeros(0)
    if hessian is not None and np.isfinite(hessian).all():
        values = np.asarray(np.linalg.eigvalsh((hessian + hessian.T) / 2), dtype=np.float64)
    if not gradient_norm <= tol:
        return CriticalPoint("not stationary", float(gradient_norm), values)
    small = max(small or 0.0, rounding(values))
    positive = len(values) > 0 and bool((values > small).all())
    if convex:
        kind = "global minimum, unique" if positive else "global minimum"
    elif positive:
        kind = "local minimum"
    elif len(values) and (values < -small).all():
        kind = "local maximum"
    elif (values > small).any() and (values < -small).any():
        kind = "saddle point"
    else:
        kind = "undecided"
    return CriticalPoint(kind, float(gradient_norm), values)
