"""How a deep model is trained: one record that all of them share."""

from collections.abc import Callable
from typing import Any

from sklearn.base import BaseEstimator

from pellucid.core.arrays import check
from pellucid.core.loops.early_stopping import EarlyStopping
from pellucid.core.runtime.tell import tell

SOLVERS = ("adam", "adamw", "sgd", "rmsprop", "adagrad")
PRECISIONS = ("float32", "bfloat16")


class Training(BaseEstimator):
    """Solver, batches, epochs, stopping and device of a deep model.

    Parameters
    ----------
    solver : {"adam", "adamw", "sgd", "rmsprop", "adagrad"}, default="adam"
        "sgd" has Nesterov momentum 0.9.
    learning_rate : float, default=1e-3
        Of the solver.
    batch_size : int, default=64
        Rows per update; the last batch of an epoch may be smaller.
    max_epochs : int, default=20
        Most passes over the rows.
    early_stopping : EarlyStopping or None, default=None
        Judge by rows kept aside (or ``X_val``), stop, and go back to the best weights.
    weight_decay : float, default=0.0
        L2 penalty, added to the gradient; decoupled from it in "adamw".
    device : str, default="auto"
        "auto" (the first CUDA device, else the CPU), "cpu", "cuda", "cuda:1", ...
    precision : {"float32", "bfloat16"}, default="float32"
        Of the products inside the network while training; weights are always float32. "bfloat16"
        needs a CUDA device; the adversarial network always trains in float32.
    verbose : bool, default=False
        Print the loss (and the validation score) of every epoch; ``history_`` keeps them.

    Examples
    --------
    >>> from pellucid.deep import Training
    >>> Training(learning_rate=0.01, max_epochs=5).get_params()["solver"]
    'adam'
    """

    def __init__(
        self,
        solver: str = "adam",
        *,
        learning_rate: float = 1e-3,
        batch_size: int = 64,
        max_epochs: int = 20,
        early_stopping: EarlyStopping | None = None,
        weight_decay: float = 0.0,
        device: str = "auto",
        precision: str = "float32",
        verbose: bool = False,
    ) -> None:
        self.solver = solver
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.max_epochs = max_epochs
        self.early_stopping = early_stopping
        self.weight_decay = weight_decay
        self.device = device
        self.precision = precision
        self.verbose = verbose

    def check(self) -> None:
        """Refuse values that have no meaning."""
        check.one_of(SOLVERS, solver=self.solver)
        check.one_of(PRECISIONS, precision=self.precision)
        check.positive(learning_rate=self.learning_rate)
        check.whole(batch_size=self.batch_size, max_epochs=self.max_epochs)
        check.non_negative(weight_decay=self.weight_decay)
        check.boolean(verbose=self.verbose)
        if not isinstance(self.device, str):
            raise ValueError(f"device must be 'auto', 'cpu' or 'cuda', got {self.device!r}")
        if self.early_stopping is not None:
            if not isinstance(self.early_stopping, EarlyStopping):
                raise ValueError(
                    f"early_stopping must be an EarlyStopping or None, got {self.early_stopping!r}"
                )
            self.early_stopping.check()


def record_of(training: Training) -> Callable[[Any], dict[str, Any]]:
    """The row of an epoch for the history, printed where the training is ``verbose``."""

    def record(state: Any) -> dict[str, Any]:
        row: dict[str, Any] = state.row()
        if training.verbose and state.number:
            told = f"Iteration {state.number}, loss = {state.objective:.8f}"
            other = row.get("discriminator_loss")
            tell(told if other is None else f"{told}, discriminator loss = {other:.8f}")
            if "validation_score" in row:
                tell(f"Validation score: {row['validation_score']:f}")
        return row

    return record


def explain_divergence(training: Training) -> Callable[[Any], str]:
    """Why a training left the finite numbers, and the cure."""

    def explain(state: Any) -> str:
        return (
            f"learning_rate={training.learning_rate:g} is too large; the weights of epoch "
            f"{state.number} are kept (cure: a smaller rate, standardised inputs)"
        )

    return explain


def get_training(training: object) -> Training:
    """The ``training=`` of a model; None means the defaults.

    >>> get_training(None).batch_size
    64
    """
    if training is None:
        return Training()
    if not isinstance(training, Training):
        raise ValueError(f"training must be a Training or None, got {training!r}")
    training.check()
    return training
