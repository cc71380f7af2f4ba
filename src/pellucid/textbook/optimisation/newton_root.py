r"""Newton's root: where a function is zero.

Solve       f(x) = 0
Step        the tangent at x is zero at x - f(x) / f'(x): go there. With error e the next error is
            about e^2 f'' / (2 f'): the number of right digits doubles, if the
            start is near enough and f' is not 0.
Cost        one value and one slope per step.
The fast version finds the slope itself, and warns when it does not converge.
"""

from collections.abc import Callable, Iterator


def steps(
    f: Callable[[float], float], slope: Callable[[float], float], x: float, tol: float = 1e-12
) -> Iterator[float]:
    while True:
        yield x
        move = f(x) / slope(x)
        if abs(move) <= tol * max(1.0, abs(x)):
            return
        x = x - move


def newton_root(f: Callable[[float], float], slope: Callable[[float], float], x: float) -> float:
    *_, last = steps(f, slope, x)
    return last
