"""When to stop learning: rows kept aside, patience, and whether to go back to the best step."""

from typing import NamedTuple

from pellucid.core.arrays import check
from pellucid.core.readable import readable


@readable
class EarlyStopping(NamedTuple):
    """Stop when the loss of rows kept aside improves no more.

    Parameters
    ----------
    validation_fraction : float, default=0.1
        Share of the training rows kept aside, where no own ones are given.
    n_iter_no_change : int, default=10
        Steps without improvement that are waited for.
    tol : float, default=1e-4
        An improvement must be at least this large.
    restore_best : bool, default=True
        Return to the step with the least loss of the rows kept aside.

    Examples
    --------
    >>> from pellucid.core.loops.early_stopping import EarlyStopping
    >>> patience = EarlyStopping(n_iter_no_change=2)
    >>> patience.ends([3.0, 2.0, 1.0]), patience.ends([3.0, 1.0, 2.0, 2.5, 2.5])
    (False, True)
    """

    validation_fraction: float = 0.1
    n_iter_no_change: int = 10
    tol: float = 1e-4
    restore_best: bool = True

    def check(self) -> None:
        """Refuse values that have no meaning."""
        check.fraction(validation_fraction=self.validation_fraction)
        check.whole(n_iter_no_change=self.n_iter_no_change)
        check.non_negative(tol=self.tol)
        check.boolean(restore_best=self.restore_best)

    def ends(self, losses: list[float]) -> bool:
        """Whether the last loss is no better, by ``tol``, than any of those it had to beat."""
        n = self.n_iter_no_change
        return len(losses) > n and losses[-1] + self.tol >= max(losses[-n - 1 : -1])
