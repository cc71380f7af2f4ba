"""The tree of approaches, with the branch of a task or of a model lit."""

from typing import Any

from pellucid.plots.panels.style import GREY, LIGHT, Panel, colour, heading

ROOT = "learning from data"
# parent -> children; the leaves name models
TREE: dict[str, tuple[str, ...]] = {
    ROOT: ("supervised", "unsupervised", "by reward"),
    "supervised": ("classification", "regression", "ranking"),
    "classification": ("generative", "discriminative", "by a score", "by example", "by trees"),
    "unsupervised": ("clusters", "components", "anomalies"),
}
LEAVES: dict[str, tuple[str, ...]] = {
    leaf: tuple(names.split())
    for leaf, names in {
        "generative": "LinearDiscriminantAnalysis QuadraticDiscriminantAnalysis "
        "RegularizedDiscriminantAnalysis RegularizedDiscriminantAnalysisCV GaussianNB BernoulliNB "
        "MultinomialNB ComplementNB CategoricalNB MixedNB TextNB GenerativeClassifier "
        "BayesClassifier",
        "discriminative": "LogisticRegression LogisticRegressionCV BayesianLogisticRegression "
        "FirthLogisticRegression OrdinalLogisticRegression StepwiseLogisticRegression "
        "MLPClassifier",
        "by a score": "Perceptron LeastSquaresClassifier SGDClassifier LinearSVC SVC",
        "by example": "KNeighborsClassifier RadiusNeighborsClassifier NearestCentroid",
        "by trees": "DecisionTreeClassifier MultiwayTreeClassifier RandomForestClassifier "
        "HistGradientBoostingClassifier GradientBoostingClassifier",
    }.items()
}
MEANING = {
    "generative": "p(x | class) and priors:\nLDA, QDA, naive Bayes",
    "discriminative": "P(class | x) directly:\nlogistic regression",
    "by a score": "a boundary only:\nperceptron, SVM",
    "by example": "what the neighbours are:\nk nearest neighbours",
    "by trees": "questions in turn:\ntrees, forests, boosting",
    "regression": "a number:\nlinear, splines, trees",
    "ranking": "an order:\npairwise ranker",
    "clusters": "groups:\nk-means, mixtures",
    "components": "few directions:\nprincipal components",
    "anomalies": "what does not belong",
    "by reward": "actions:\nQ-learning",
}
KINDS = dict.fromkeys(("binary", "multiclass", "multilabel"), "classification")
KINDS |= dict.fromkeys(("regression", "multi_output_regression"), "regression")
KINDS |= {"ranking": "ranking", "clustering": "clusters", "anomaly": "anomalies"}


class Taxonomy(Panel, size=(9.6, 6.2)):
    nodes: tuple[tuple[str, float, float], ...]  # name, depth, height
    branches: tuple[tuple[str, str], ...]
    lit: tuple[str, ...]  # from the root on

    def _draw(self, ax: Any) -> None:
        place = {name: (x, y) for name, x, y in self.nodes}
        for a, b in self.branches:
            on = a in self.lit and b in self.lit
            (x0, y0), (x1, y1) = place[a], place[b]
            middle = (x0 + x1) / 2
            tint, width, z = (colour(0), 3.0, 2) if on else (LIGHT, 1.5, 1)
            ax.plot([x0, middle, middle, x1], [y0, y0, y1, y1], color=tint, lw=width, zorder=z)
        for name, x, y in self.nodes:
            on = name in self.lit
            fill, edge = (colour(0), colour(0)) if on else ("white", GREY)
            box = {"boxstyle": "round,pad=0.35", "fc": fill, "ec": edge, "lw": 1.2}
            look = {"color": "white", "fontweight": "bold"} if on else {}
            ax.text(x, y, name, ha="center", va="center", bbox=box, zorder=3, **look)
            if name in MEANING:
                tint = "black" if on else GREY
                ax.text(x + 0.36, y, MEANING[name], va="center", fontsize="small", color=tint)
        heights = [y for _, _, y in self.nodes]
        ax.set(xlim=(-0.45, 4.15), ylim=(max(heights) + 0.7, min(heights) - 0.7))
        ax.axis("off")
        heading(ax, self.title, width=100)


def layout() -> tuple[list[tuple[str, float, float]], list[tuple[str, str]]]:
    """Every node at its depth; ends one below the other, parents in the middle of theirs."""
    nodes, branches, row = [], [], [0.0]

    def place(name: str, depth: int) -> float:
        children = TREE.get(name, ())
        heights = []
        for child in children:
            branches.append((name, child))
            heights.append(place(child, depth + 1))
        if not children:
            height, row[0] = row[0], row[0] + 1.0
        else:
            height = (heights[0] + heights[-1]) / 2
        nodes.append((name, float(depth), height))
        return height

    place(ROOT, 0)
    return nodes, branches


def leaf_of(task: Any) -> tuple[str, str]:
    """The branch of a kind, a Task or a model, and what to call it."""
    kind = task if isinstance(task, str) else getattr(task, "kind", None)
    if kind is not None:
        names = {*MEANING, *TREE}
        if kind not in KINDS and kind not in names:
            raise ValueError(f"task must be one of {sorted(KINDS)} or a branch, got {kind!r}")
        return KINDS.get(kind, kind), kind.replace("_", " ")
    model = task.steps[-1][1] if hasattr(task, "steps") else task
    what = type(model).__name__
    for leaf, models in LEAVES.items():
        if what in models:
            return leaf, what
    tags = getattr(model, "__sklearn_tags__", None)
    kind = getattr(model, "_estimator_type", None) or (tags and tags().estimator_type)
    found = {"classifier": "classification", "regressor": "regression", "clusterer": "clusters"}
    if kind not in found:
        raise ValueError(f"task must be a Task, the name of a kind or a model, got {what}")
    return found[kind], what


def taxonomy(task: Any) -> Taxonomy:
    """Which approach a task or a model belongs to.

    ``task``: Task of a study, the name of its kind ("binary", "regression", ...), or an estimator.

    Examples
    --------
    >>> from pellucid import GaussianNB
    >>> from pellucid.plots import taxonomy
    >>> taxonomy(GaussianNB()).lit
    ('learning from data', 'supervised', 'classification', 'generative')
    """
    leaf, what = leaf_of(task)
    nodes, branches = layout()
    parent = {b: a for a, b in branches}
    lit = [leaf]
    while lit[0] in parent:
        lit.insert(0, parent[lit[0]])
    title = f"{what}: {' → '.join(lit[1:])}"
    alt = f"Tree of the approaches to learning, lit from the root to {leaf}: {', '.join(lit)}."
    return Taxonomy(alt, tuple(nodes), tuple(branches), tuple(lit), title=title)
