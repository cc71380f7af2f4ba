r"""The study: from a file and a question to an honest answer, stage by stage.

    formalise -> split -> audit -> features -> candidates -> train -> suspect -> evaluate -> verdict

Each stage is a method that may be called by itself (it calls what must come before it, once);
``run`` calls them all. The split comes before the audit looks at the target, and whatever looks
at the target sees learning rows only. The test rows are used once, at the end; then the model to
keep learns from them too. Same data, seed and
effort give the same record, seconds apart.
"""

import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np
import polars as pl

import pellucid
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import IntArray
from pellucid.core.runtime.threads import single_threaded_blas
from pellucid.data.loader import known_columns, name_list
from pellucid.evaluation.metrics.metrics import resolve_metric
from pellucid.study.candidates.blend import blend
from pellucid.study.candidates.candidates import (
    AVERAGE,
    EFFORTS,
    Setting,
    Tried,
    find_candidates,
)
from pellucid.study.candidates.choice import PREFER, choose_outcome
from pellucid.study.candidates.leaderboard import compare_outcomes, leaderboard_rows
from pellucid.study.candidates.stacked import KEY as STACK
from pellucid.study.candidates.stacked import stack
from pellucid.study.candidates.training import Outcome, Trained, Workshop, train_all
from pellucid.study.checks.audit import audit_table
from pellucid.study.checks.findings import Codes, code_set, sorted_findings
from pellucid.study.checks.neighbours import find_neighbours
from pellucid.study.checks.suspicion import find_suspicion, suspicion_finding
from pellucid.study.columns.idle_texts import idle_texts
from pellucid.study.columns.lags import Lags, find_lags, table_lags
from pellucid.study.errors import TaskError
from pellucid.study.judging.final_score import Evaluation
from pellucid.study.judging.measure import OF_BOTH, Scorer, make_scorer
from pellucid.study.reading.amounts import spread_growth
from pellucid.study.reading.number_forms import marks_of
from pellucid.study.reading.profiles import NUMBERS, read_columns, typed_frame, with_plain_names
from pellucid.study.reading.refusals import (
    extreme_cell,
    nothing_left,
    one_class_before,
    one_class_judges,
    one_role,
    only_names,
)
from pellucid.study.reading.sampling import read_rows
from pellucid.study.reading.target_arrays import CLASSES, labelled_rows, target_array
from pellucid.study.reading.tasks import detect_task
from pellucid.study.records import (
    Audit,
    Candidate,
    ColumnPlan,
    FeatureRecord,
    Final,
    LeaderboardRow,
    Learned,
    Plan,
    SplitRecord,
    StudyRecord,
    Suspicion,
    Task,
)
from pellucid.study.splits.owners import find_owner, named_groups
from pellucid.study.splits.split import copied_rows, group_codes, make_split
from pellucid.study.verdict.final_model import Ground, conclude
from pellucid.study.verdict.notes import Facts, notes
from pellucid.study.verdict.verdict import Case, reach_verdict
from pellucid.study.wording import source_name

Progress = Callable[[str, int, int, str], None]
STAGES = ("formalise", "split", "audit", "features", "train", "suspicion", "evaluate", "verdict")
KEPT = 0.2  # the largest share of a time limit kept for what comes after training
RANK_CELLS = 5_000_000  # beyond so many cells the rank is not computed
FEW_PER_FEATURE = 10
IDLE = "its words do not help in the folds"
NO_FAMILY = {
    "clustering": "there is no target to learn; `pellucid cluster` groups the rows of a table",
    "anomaly": "there is no target to learn; `pellucid anomalies` rates the rows of a table",
}


class Study:
    """One honest study of a table.

    Parameters
    ----------
    data : anything ``pellucid.data.load`` reads
        A path, a frame, a dict, an open file ...
    target : str or list of str
        The column(s) to predict.
    task : str, default="auto"
        The kind of task; "auto" looks at the target.
    metric : str, default="auto"
        The measure; chosen before training and then frozen.
    plan : Plan, optional
        What you know about the table: time, groups, costs, columns to drop or keep ...
    effort : {"quick", "standard", "thorough"}, default="standard"
        How many models are tried and how finely they are tuned.
    ignore : sequence of str
        Codes of findings to leave unsaid.
    random_state : int, default=0
        The seed of everything random.
    progress : callable (stage, done, total, text), optional
        Told how far the study is.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid.study import Study
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=200)
    >>> table = {"x": x, "y": 3 * x + 1 + rng.normal(size=200)}
    >>> study = Study(table, "y", effort="quick")
    >>> study.formalise().metric, study.split().kind
    ('rmse', 'random')
    >>> study.run().verdict.kind
    'shown'
    """

    def __init__(
        self,
        data: object,
        target: str | Sequence[str] | None = None,
        *,
        task: str = "auto",
        metric: str = "auto",
        plan: Plan | None = None,
        effort: str = "standard",
        ignore: Codes = (),
        random_state: int = 0,
        progress: Progress | None = None,
    ) -> None:
        check.one_of(EFFORTS, effort=effort)
        self.plan = Plan() if plan is None else plan
        check.one_of(PREFER, prefer=self.plan.prefer)
        self.effort, self.random_state = effort, int(random_state)
        self.ignore = code_set(ignore)
        self._data, self._targets = data, name_list(target, "target")
        self._asked = (task, metric)
        self._progress = progress or (lambda stage, done, total, text: None)
        self._began = time.monotonic()
        self._done: dict[str, Any] = {}  # what each stage left
        self._doing = "starting"

    # --- stages ------------------------------------------------------------------------------

    def _stage(self, name: str, make: Callable[[], Any]) -> Any:
        """The record of a stage, made once."""
        if name not in self._done:
            self._doing = name
            at = STAGES.index(name) if name in STAGES else 0
            self._progress(name, at, len(STAGES), name)
            with single_threaded_blas():  # small matrices; and the same bits on any machine
                self._done[name] = make()
        return self._done[name]

    @property
    def frame(self) -> Any:
        """The table as a Polars frame, numbers and dates in text read as such."""
        if "frame" not in self._done:
            rows = read_rows(self._data, sample=self.plan.sample, seed=self.random_state)
            raw, self._done["total"] = rows
            if raw.height == 0:
                raise TaskError("the table has no rows")
            self._done["columns"] = read_columns(raw)
            frame = typed_frame(raw, self._done["columns"])
            plan = self.plan
            named = [*self._targets, *plan.drop, *plan.keep]
            groups = named_groups(plan, frame.columns)
            roles = (plan.time, groups, plan.query, plan.known_groups)
            named += [name for name in roles if name is not None]
            known_columns(named, dict.fromkeys(frame.columns), "the table")
            plain = [*self._targets, *(name for name in roles[1:] if name is not None)]
            frame = with_plain_names(frame, self._done["columns"], list(dict.fromkeys(plain)))
            if extreme := extreme_cell(frame, plan.drop):
                raise TaskError(extreme)
            self._done["frame"] = frame
        return self._done["frame"]

    def formalise(self) -> Task:
        """Task, measure and experience; frozen from here on."""
        return self._stage("formalise", self._formalise)

    def _formalise(self) -> Task:
        kind, metric = self._asked
        frame = self.frame
        if not self._targets:
            raise TaskError(NO_FAMILY["anomaly" if kind == "anomaly" else "clustering"])
        single = len(self._targets) == 1
        one_role(self._targets, self.plan)
        task = detect_task(
            frame[self._targets[0]] if single else frame.select(self._targets),
            query=self.plan.query,
            kind=None if kind == "auto" else kind,
            metric=None if metric == "auto" else metric,
            cost_matrix=self.plan.cost_matrix,
        )
        if task.kind in NO_FAMILY:
            raise TaskError(NO_FAMILY[task.kind])
        if task.kind in CLASSES and len(task.classes) < 2:
            (one,) = task.classes
            what = "class" if isinstance(one, str | bool) else "value"
            raise TaskError(
                f"the target {task.target[0]!r} has one {what} only, {one!r}; two are needed"
            )
        if task.kind in CLASSES and (names := only_names(frame[task.target[0]])):
            raise TaskError(names)
        if self.plan.cost_matrix is not None:
            shape = np.shape(self.plan.cost_matrix)
            k = len(task.classes)
            if shape != (k, k):
                raise ValueError(f"cost_matrix must have the shape {(k, k)}, got {shape}")
        return task

    @property
    def task(self) -> Task:
        """The task; it cannot be changed."""
        return self.formalise()

    @property
    def metric(self) -> str:
        """The measure; it cannot be changed."""
        return self.formalise().metric

    def split(self) -> SplitRecord:
        """Which rows judge at the end, and the folds of the others."""
        return self._stage("split", self._split)

    def _split(self) -> SplitRecord:
        task = self.formalise()
        known = labelled_rows(self.frame, task)
        if int(known.sum()) < 10:
            n = int(known.sum())
            having = "1 row has" if n == 1 else f"{n} rows have"
            raise TaskError(f"{having} a target; at least 10 are needed for a study")
        split = make_split(self.frame, task, self.plan, self.random_state)
        keep = lambda rows: np.asarray(rows)[known[np.asarray(rows)]]  # noqa: E731
        folds = tuple((keep(a), keep(b)) for a, b in split.folds)
        if task.kind in CLASSES:  # in time a class may come late
            label = self.frame[task.target[0]]
            folds = tuple(fold for fold in folds if label.gather(fold[0]).n_unique() > 1)
            if not folds:
                raise TaskError(one_class_before(label.gather(keep(split.train)), split.time))
            if task.kind == "binary" and self._needs_both():
                folds = tuple(fold for fold in folds if label.gather(fold[1]).n_unique() > 1)
                if len(folds) < 2 or label.gather(keep(split.test)).n_unique() < 2:
                    rare = int((label.drop_nulls() == task.positive).sum())
                    raise TaskError(one_class_judges(task, split.time, rare, int(known.sum())))
        return split._replace(train=keep(split.train), test=keep(split.test), folds=folds)

    def audit(self) -> Audit:
        """What is wrong or remarkable about the table."""
        return self._stage("audit", self._audit)[0]

    def _audit(self) -> tuple[Audit, dict[str, str]]:
        split = self.split()
        found, left_out = audit_table(
            self.frame,
            self.formalise(),
            self.plan,
            split=split,
            ignore=tuple(self.ignore),
            columns=self._done["columns"],
        )
        return found, dict(left_out)

    def left_out(self) -> dict[str, str]:
        """Columns that no model sees, and why."""
        self.audit()
        return self._done["audit"][1]

    def _inputs(self, extra: tuple[str, ...] = ()) -> dict[str, str]:
        """The input columns and their kinds."""
        out = set(self.left_out()) - set(extra)
        found = {}
        for column in self.audit().columns:
            name = column.name
            if name in self._targets or name in (self.split().groups, self.plan.query):
                continue
            dropped = name in self.plan.drop or (name in out and name not in self.plan.keep)
            left = column.role == "left_out" and name not in (*self.plan.keep, *extra)
            if not (dropped or left):
                found[name] = column.kind
        return found

    def _shop(self, extra: tuple[str, ...] = ()) -> Workshop:
        task, split, frame = self.formalise(), self.split(), self.frame
        kinds = self._inputs(extra)
        if not kinds:
            raise TaskError(nothing_left(self.left_out()))
        known = labelled_rows(frame, task)
        y: Any = np.empty(0)
        some = target_array(frame.filter(known), task)
        y = np.zeros((frame.height, *some.shape[1:]), dtype=some.dtype)
        y[known] = some
        codes = lambda n: None if n is None else group_codes(self._done["columns"][n])  # noqa: E731
        query = codes(self.plan.query)
        groups = query if query is not None else codes(split.groups)
        if split.copies:
            rows = np.flatnonzero(known)
            groups = copied_rows(self._done["columns"], task, self.plan, rows)
        inputs, lags = frame.select(list(kinds)), self._lags(kinds)
        if lags is not None:
            before = table_lags(lags, frame, y, np.concatenate([split.train, split.test]))
            inputs = pl.concat([before, inputs], how="horizontal")
            kinds = lags.kinds() | kinds
        return Workshop(
            inputs,
            y,
            split.folds,
            kind=split.kind,
            kinds=kinds,
            forms={n: c.form for n, c in self._done["columns"].items() if c.form},
            scorer=self._scorer(),
            groups=groups,
            query=query,
            effort=self.effort,
            seed=self.random_state,
            lags=lags,
            cells=frame,
            prefer=self.plan.prefer,
        )

    def _lags(self, kinds: dict[str, str]) -> Lags | None:
        """What of the past becomes columns; None where no series is studied, or a sample of one."""
        task, split = self.formalise(), self.split()
        if self._sampled():
            return None
        series = split.kind == "sequential" and split.time is not None and not split.groups
        if not series or task.kind not in (*CLASSES, "regression") or self.plan.query:
            return None
        rows = np.concatenate([split.train, split.test])
        sources = [n for n, kind in kinds.items() if kind in NUMBERS and n != split.time]
        sources = [n for n in sources if self.frame[n].dtype.is_numeric()]
        found = find_lags(
            self.frame[split.time], task.target[0], rows, sources, classes=task.kind in CLASSES
        )
        taken = found is not None and set(found.names()) & set(self.frame.columns)
        return None if taken else found

    def _needs_both(self) -> bool:
        """Whether the measure is undefined on rows of one class."""
        costs = self.plan.cost_matrix if self.metric == "mean_cost" else None
        measure = resolve_metric(self.metric, self.task.kind, cost_matrix=costs)
        return measure.needs == "scores" or measure.name in OF_BOTH

    def _scorer(self) -> Scorer:
        task = self.formalise()
        y = target_array(self.frame[self.split().train], task) if task.kind in CLASSES else None
        return make_scorer(task, self.plan.cost_matrix, y)

    @property
    def _workshop(self) -> Workshop:
        if "shop" not in self._done:
            shop = self._shop()
            idle = [name for name in idle_texts(shop) if name not in self.plan.keep]
            if idle:
                self._done["audit"][1].update(dict.fromkeys(idle, IDLE))
                shop = self._shop()
            self._done["shop"] = shop
        return self._done["shop"]

    def take(self, rows: IntArray) -> tuple[Any, Any]:
        """Inputs (a frame) and target (an array) of these rows, as every model gets them."""
        shop = self._workshop
        return shop.frame[rows], shop.y[rows]

    def features(self) -> FeatureRecord:
        """What becomes of every column, on the learning rows."""
        return self._stage("features", self._features)

    def _features(self) -> FeatureRecord:
        shop, split = self._workshop, self.split()
        features = shop.make_features({"lags": True})
        Z = features.fit_transform(shop.frame[split.train], shop.y[split.train])
        n, p = Z.shape
        shop.growth = None
        if self.task.kind == "regression" and self.task.nature != "counts":
            shop.growth = spread_growth(Z, shop.y[split.train])
        if p == 0:
            raise TaskError("no column varies in the learning rows: there is nothing to learn from")
        rank = int(np.linalg.matrix_rank(Z)) if Z.size <= RANK_CELLS else None
        plans = tuple(ColumnPlan(*row) for row in features.describe())
        reasons = {**self.left_out(), **dict.fromkeys(self.plan.drop, "dropped by the plan")}
        return FeatureRecord(plans, tuple(reasons.items()), n, p, rank, advice(n, p, rank))

    def candidates(self) -> list[Candidate]:
        """The models to try, guessing and the linear baseline first."""
        return [one.candidate for one in self._tried()]

    def _tried(self) -> list[Tried]:
        if "tried" not in self._done:
            self._done["tried"] = find_candidates(self._setting(), self.plan.candidates)
            if len(self._done["tried"]) < 2:
                raise TaskError(
                    f"no model of this version fits a task of the kind {self.task.kind}"
                )
        return self._done["tried"]

    def _setting(self) -> Setting:
        task, features, split = self.formalise(), self.features(), self.split()
        y = self._workshop.y[split.train]
        counts = np.unique(y, return_counts=True)[1] if task.kind in CLASSES else np.array([0])
        spread = 1.0 if task.kind in (*CLASSES, "multilabel") else float(np.std(y)) or 1.0
        texts = tuple(c.name for c in features.columns if c.kind == "text")
        return Setting(
            task,
            self.effort,
            len(split.train),
            features.n_features,
            len(counts),
            int(counts.min()),
            spread,
            texts,
            self.random_state,
            self.plan.cost_matrix,
            1.0 if task.kind in (*CLASSES, "multilabel") else float(np.mean(y)),
            self._workshop.lags is not None,
            self._workshop.growth is not None and self._workshop.growth.grows,
        )

    def train(self) -> tuple[LeaderboardRow, ...]:
        """Every candidate on the same folds; the leaderboard, best first."""
        self._stage("train", self._train)
        return self._done["rows"]

    def _train(self) -> Trained:
        tried = self._tried()
        deadline = None if self.plan.time_limit is None else self._training_end

        def progress(done: int, total: int, text: str) -> None:
            self._doing = f"training {text}"
            self._progress("train", done, total, text)

        def keep(trained: Trained) -> None:
            self._done["trained"] = trained

        trained = train_all(self._workshop, tried, deadline=deadline, progress=progress, keep=keep)
        if self.plan.candidates is None or AVERAGE in self.plan.candidates:
            progress(len(tried), len(tried), "the average of the models")
            average = blend(self._workshop, trained.outcomes)
            trained.outcomes.extend([] if average is None else [average])
        if self.effort == "thorough" and (
            self.plan.candidates is None or STACK in self.plan.candidates
        ):
            progress(len(tried), len(tried), "the stack of the models")
            stacked = stack(self._workshop, trained.outcomes)
            trained.outcomes.extend([] if stacked is None else [stacked])
        self._choose(trained)
        return trained

    def _deadline(self, share: float = 1.0) -> float | None:
        limit = self.plan.time_limit
        return None if limit is None else self._began + share * limit

    def _training_end(self, outcomes: list[Outcome]) -> float:
        """When training must end: what the last fits need is kept, by the slowest one so far."""
        limit, folds = self.plan.time_limit or 0.0, len(self.split().folds)
        slowest = max(one.seconds / folds for one in outcomes)
        return self._began + limit - min(KEPT * limit, 0.05 * limit + 2 * slowest)

    def _choose(self, trained: Trained) -> None:
        shop = self._workshop
        choice = choose_outcome(shop, trained.outcomes, self.plan.alpha, self.plan.prefer)
        self._done["choice"] = choice
        self._done["rows"] = leaderboard_rows(shop, trained.outcomes, choice)
        self._done["comparison"] = compare_outcomes(shop, trained.outcomes, self.plan.alpha)

    def suspect(self) -> Suspicion | None:
        """Why the score in the folds is too good to be true; None where it is not."""
        return self._stage("suspicion", self._suspect)

    def _suspect(self) -> Suspicion | None:
        self.train()
        outcomes, choice = self._done["train"].outcomes, self._done["choice"]
        shop, plan, late = self._workshop, self.plan, self._deadline()
        found = None
        if "PEL310" not in self.ignore:
            target = self._done["columns"][self.task.target[0]]
            found = find_neighbours(shop, outcomes, choice, target, plan, late)
        if "PEL307" not in self.ignore and (found is None or not found.perfect):
            rows = self.split().train
            other = find_suspicion(shop, outcomes, choice, self.frame, rows, plan, late)
            if other is not None and suspicion_finding(other).code not in self.ignore:
                found = other if found is None or other.perfect else found
        self._done["hurried"] = found is None and late is not None and time.monotonic() > late
        return found

    def evaluate(self) -> Final:
        """Fit the winner on all learning rows, use the test rows once, refit it on all rows."""
        return self._stage("evaluate", self._evaluate).final

    def _evaluate(self) -> Evaluation:
        self.train()
        hidden = self._hidden()
        found = conclude(
            Ground(
                self._workshop,
                self.plan._replace(groups=self.split().groups),
                self.split(),
                self.frame,
                self.audit().digest,
                self._done["train"],
                self._done["choice"],
                self._done["rows"],
                hidden,
                lambda: self._shop(hidden),
                self._deadline(),
                self._tell,
                self._asked[1] != "auto",
                self._known_groups(),
            )
        )
        rows = self._done["rows"]
        self._done["rows"] = tuple(
            r._replace(parameters=found.parameters) if r.chosen else r for r in rows
        )
        self._done["conclusion"] = found
        return found.evaluation

    def _tell(self, text: str) -> None:
        self._doing = text
        self._progress("evaluate", STAGES.index("evaluate"), len(STAGES), text)

    def _hidden(self) -> tuple[str, ...]:
        """Columns that were left out as leaks or names, not by the plan."""
        codes = ("PEL105", "PEL301", "PEL302")
        named = {c for f in self.audit().findings if f.code in codes for c in f.where}
        return tuple(
            name
            for name in self.left_out()
            if name in named and name not in self.plan.drop and name in self.frame.columns
        )

    # --- the whole ---------------------------------------------------------------------------

    def run(self) -> StudyRecord:
        """Every stage in turn.

        An interrupt (Ctrl-C) is passed on; ``record`` then holds what was found until then.
        """
        try:
            self.audit()
            self.suspect()
            self.evaluate()
            self._stage("verdict", self._verdict)
        except KeyboardInterrupt:
            self._done["partial"] = f"interrupted while {self._doing}"
            raise
        self._progress("verdict", len(STAGES), len(STAGES), "done")
        return self.record()

    def _verdict(self) -> Any:
        self.evaluate()
        found = self._done["conclusion"]
        return reach_verdict(
            Case(
                self.task,
                found.score,
                found.evaluation.final.gain,
                self._challenger().name,
                self._done["rows"],
                self._findings(),
                self.plan.alpha,
                self._limit(),
                self._done.get("suspicion"),
                self.plan.useful is not None,
                (*self._sample_note(), *self._notes()),
                self._done["choice"].why,
                found.evaluation.final.with_left_out,
                self._unit(),
            )
        )

    def _unit(self) -> str:
        """The unit in which the cells of the target are written."""
        form = self._done["columns"][self._targets[0]].form if len(self._targets) == 1 else ""
        return marks_of(form).unit if form else ""

    def _known_groups(self) -> str | None:
        """The groups of which new rows are other rows: named in the plan, or found though the plan
        forbids to split by them."""
        if self.split().kind not in ("random", "stratified"):
            return None
        if self.plan.known_groups is not None or self.plan.groups is None:
            return self.plan.known_groups
        if "known" not in self._done:
            free = self.plan._replace(groups=None)
            found = find_owner(self._done["columns"], self.task, free, self.split().train)
            self._done["known"] = None if found is None else found.name
        return self._done["known"]

    def _sampled(self) -> bool:
        return bool(self._done["total"] > self.frame.height)

    def _sample_note(self) -> tuple[str, ...]:
        """Of how many rows the study saw how many."""
        if not self._sampled():
            return ()
        some, total = self.frame.height, self._done["total"]
        return (f"Studied, tested and learned from: {some:,} of {total:,} rows, drawn at random.",)

    def _notes(self) -> tuple[str, ...]:
        """What the model needs, what it predicts, and which groups the answer is about."""
        found, choice, shop = self._done["conclusion"], self._done["choice"], self._workshop
        with_lags = self._challenger().tried.features.get("lags", False)
        kept = choice.challenger == choice.chosen and self._challenger().complexity > 0
        return notes(
            Facts(
                self.task,
                self.split(),
                shop.lags if with_lags else None,
                found.model[-1] if kept else None,
                found.evaluation.final,
                self._known_groups(),
                self._unit(),
            )
        )

    def _challenger(self) -> Any:
        """The model whose gain is tested."""
        return self._done["train"].outcomes[self._done["choice"].challenger]

    def _findings(self) -> tuple[Any, ...]:
        audit = self._done["audit"][0].findings if "audit" in self._done else ()
        found, doubt = self._done.get("conclusion"), self._done.get("suspicion")
        late = [*(found.findings if found else ()), *([suspicion_finding(doubt)] if doubt else ())]
        return sorted_findings([*audit, *late], self.ignore)

    def _limit(self) -> str:
        """What the time limit cut off, in words."""
        trained, found = self._done.get("trained"), self._done.get("conclusion")
        names = [*(trained.skipped if trained else ()), *(found.skipped if found else ())]
        names += ["the search for leaks"] if self._done.get("hurried") else []
        if not names:
            return ""
        return f"the time limit of {self.plan.time_limit:g} s left no time for {', '.join(names)}"

    def record(self) -> StudyRecord:
        """What has been found so far; ``partial`` says what is missing."""
        done = self._done
        if "formalise" not in done or "audit" not in done:
            raise ValueError(f"there is no record yet: the study was {self._doing}")
        rows = done.get("rows", ())
        if not rows and "trained" in done:
            rows = leaderboard_rows(self._workshop, done["trained"].outcomes, None)
        whole = "verdict" in done
        partial = done.get("partial") or self._limit()
        if not whole and not partial:
            partial = f"the study is at the stage {self._doing}"
        found = done.get("conclusion")
        model = found.model if found else None
        split = done.get("split")
        learned = None
        if found and split:
            some, every = len(split.train), len(split.train) + len(split.test)
            learned = Learned(some, some if found.model is found.tested else every)
        return StudyRecord(
            task=done["formalise"],
            audit=done["audit"][0],
            split=split,
            features=done.get("features"),
            baseline=next((row for row in rows if row.complexity == 0), None),
            leaderboard=rows,
            comparison=done.get("comparison"),
            final=found.evaluation.final if found else None,
            diagnosis=found.diagnosis if found else None,
            insight=found.insight if found else None,
            findings=self._findings(),
            verdict=done.get("verdict"),
            card=None if model is None else model[-1].card().to_dict(),
            model=model,
            reproduction=self._reproduction(),
            partial=partial,
            suspicion=done.get("suspicion"),
            tested=found.tested if found else None,
            learned=learned,
        )

    def _reproduction(self) -> dict[str, Any]:
        done = self._done
        trained = done.get("trained")
        packages = ("numpy", "scipy", "scikit-learn", "numba", "polars")
        task, metric = self._asked
        return {
            "source": source_name(self._data),
            "digest": done["audit"][0].digest,
            "rows": self.frame.height,
            "table_rows": done["total"],
            "columns": self.frame.width,
            "target": self._targets,
            "task": task,
            "metric": metric,
            "plan": self.plan.to_dict(),
            "effort": self.effort,
            "seed": self.random_state,
            "ignore": sorted(self.ignore),
            "versions": {"pellucid": pellucid.__version__} | {p: version(p) for p in packages},
            "not_scored": [] if trained is None else [f._asdict() for f in trained.failed],
            "seconds": round(time.monotonic() - self._began, 2),
        }


def advice(n: int, p: int, rank: int | None) -> str:
    """One sentence on the number of features.

    >>> advice(275, 12, 12)
    '12 features for 275 rows: 22 rows for each.'
    """
    text = f"{p:,} feature{'s' if p != 1 else ''} for {n:,} rows"
    if p >= n:
        return f"{text}: more features than rows; penalties are needed, selection or PCA may help."
    if n < FEW_PER_FEATURE * p:
        return f"{text}: few rows for each; penalties help, selection or PCA may help."
    if rank is not None and rank < p:
        text = f"{p:,} features, {rank:,} of them independent, for {n:,} rows"
    return f"{text}: {n // (rank or p):,} rows for each."


def learn(
    data: object,
    target: str | Sequence[str] | None = None,
    *,
    task: str = "auto",
    metric: str = "auto",
    plan: Plan | None = None,
    effort: str = "standard",
    ignore: Codes = (),
    random_state: int = 0,
    progress: Progress | None = None,
) -> StudyRecord:
    """Study a table and say how well the target can be predicted from it.

    ``data``, ``target``, ``task``, ``metric``, ``plan``, ``effort``, ``ignore``, ``random_state``
    and ``progress`` are those of ``Study``; this is ``Study(...).run()``.

    Examples
    --------
    >>> import numpy as np
    >>> import pellucid
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=200)
    >>> table = {"x": x, "y": 3 * x + 1 + rng.normal(size=200)}
    >>> record = pellucid.learn(table, "y", effort="quick")
    >>> record.verdict.kind, record.verdict.chosen
    ('shown', 'ridge regression')
    """
    return Study(
        data,
        target,
        task=task,
        metric=metric,
        plan=plan,
        effort=effort,
        ignore=ignore,
        random_state=random_state,
        progress=progress,
    ).run()
