"""The update of one step as a line of text, with the numbers of this step filled in.

A family of algorithms has one writer (``formula_lines`` for linear models, ``formula_families``
for the others); ``WRITERS`` says which class belongs to which family. A class that is not listed
and has coefficients is read as a linear model, and whatever is left says how its objective moved.
Nothing is computed here but differences of what the fit itself recorded.
"""

from functools import partial

from pellucid.lab.drawing import number
from pellucid.lab.formula_families import (
    ASCENT,
    BAUM_WELCH,
    BOUND,
    POLICY,
    PROGRAMME,
    STAGES,
    acting,
    adaboost,
    boosting,
    centres,
    components,
    discriminant,
    forest,
    fuzzy_centres,
    likelihood,
    medoids,
    naive_bayes,
    neighbours,
    network,
    planning,
    support,
    tree,
)
from pellucid.lab.formula_lines import (
    Moment,
    Writer,
    change,
    joined,
    linear,
    perceptron,
    stagewise,
    stepwise,
    stochastic,
)


def formula_of(moment: Moment) -> str:
    """The formula of a step; never empty."""
    if moment.model is None:
        value = moment.value("objective")
        return joined("start" if value is None else f"start at J = {number(value)}", moment.words)
    for kind in type(moment.model).__mro__:
        if kind.__name__ in WRITERS:
            return WRITERS[kind.__name__](moment)
    for attribute, writer in BY_ATTRIBUTE:
        if getattr(moment.model, attribute, None) is not None:
            return writer(moment)
    return change(moment)


def of_each(writer: Writer, *names: str) -> dict[str, Writer]:
    return dict.fromkeys(names, writer)


Q_RULE = "Q(s,a) ← Q(s,a) + η [r + γ max Q(s′,·) − Q(s,a)]"
DOUBLE_Q_RULE = (
    "Q_A(s,a) ← Q_A(s,a) + η [r + γ Q_B(s′, argmax Q_A(s′,·)) − Q_A(s,a)], A and B by a coin"
)
WRITERS: dict[str, Writer] = {
    **of_each(stochastic, "SGDClassifier", "SGDRegressor"),
    **of_each(perceptron, "Perceptron"),
    **of_each(partial(linear, rule="w_A ← w_A + γ (X_AᵀX_A)⁻¹ X_Aᵀr"), "LassoLars", "LassoLarsIC"),
    **of_each(partial(linear, rule="w ← w + H⁻¹ Xᵀ(y − p + h(½ − p))"), "FirthLogisticRegression"),
    **of_each(stagewise, "StagewiseRegression"),
    **of_each(stepwise, "StepwiseRegression", "StepwiseLogisticRegression", "ScoreBasedStructure"),
    **of_each(centres, "KMeans", "BisectingKMeans"),
    **of_each(fuzzy_centres, "FuzzyCMeans", "PossibilisticCMeans"),
    **of_each(medoids, "KMedoids"),
    **of_each(partial(likelihood, rule=ASCENT), "GradientGaussianMixture"),
    **of_each(partial(likelihood, rule=BAUM_WELCH), "HiddenMarkovModel"),
    **of_each(partial(likelihood, rule=BOUND, what="bound"), "BayesianGaussianMixture"),
    **of_each(likelihood, "GaussianMixture", "Mixture", "SemiSupervisedMixture"),
    **of_each(adaboost, "AdaBoostClassifier"),
    **of_each(
        boosting,
        "GradientBoostingClassifier",
        "GradientBoostingRegressor",
        "HistGradientBoostingClassifier",
        "HistGradientBoostingRegressor",
    ),
    **of_each(
        forest,
        "RandomForestClassifier",
        "RandomForestRegressor",
        "ExtraTreesClassifier",
        "ExtraTreesRegressor",
    ),
    **of_each(
        tree,
        "DecisionTreeClassifier",
        "DecisionTreeRegressor",
        "MultiwayTreeClassifier",
        "MultiwayTreeRegressor",
    ),
    **of_each(support, "SVC", "SVR", "NuSVC", "NuSVR", "OneClassSVM", "MaximumMarginClassifier"),
    **of_each(network, "MLPClassifier", "MLPRegressor", "Autoencoder"),
    **of_each(planning, "ValueIteration"),
    **of_each(partial(planning, rule=POLICY), "PolicyIteration"),
    **of_each(partial(planning, rule=STAGES), "FiniteHorizon"),
    **of_each(partial(planning, rule=PROGRAMME), "LinearProgramming"),
    **of_each(partial(acting, rule=Q_RULE), "QLearning"),
    **of_each(partial(acting, rule=DOUBLE_Q_RULE), "DoubleQLearning"),
    **of_each(partial(acting, rule="Q(s,a) ← Q(s,a) + η [r + γ Q(s′,a′) − Q(s,a)]"), "SARSA"),
    **of_each(partial(acting, rule="U(s) ← U(s) + η [r + γ U(s′) − U(s)]"), "TDLearning"),
    **of_each(partial(acting, rule="U(s) ← mean of the returns from s"), "MonteCarloLearning"),
    **of_each(partial(acting, rule="θ ← θ − η ∇ [r + γ max Q⁻(s′,·) − Q(s,a)]²"), "DeepQNetwork"),
    **of_each(partial(acting, rule="θ ← θ + η G ∇ ln π(a | s)"), "PolicyGradient"),
    **of_each(
        partial(acting, rule="P̂, r̂ from counts, then U solves Bellman's equations"),
        "AdaptiveDynamicProgramming",
    ),
    **of_each(
        naive_bayes,
        "GaussianNB",
        "BernoulliNB",
        "MultinomialNB",
        "CategoricalNB",
        "MixedNB",
        "TextNB",
    ),
    **of_each(
        discriminant,
        "LinearDiscriminantAnalysis",
        "QuadraticDiscriminantAnalysis",
        "RegularizedDiscriminantAnalysis",
        "RegularizedDiscriminantAnalysisCV",
    ),
    **of_each(components, "PCA"),
    **of_each(partial(components, of="the centred Gram matrix"), "KernelPCA"),
    **of_each(
        neighbours,
        "KNeighborsClassifier",
        "KNeighborsRegressor",
        "RadiusNeighborsClassifier",
        "RadiusNeighborsRegressor",
    ),
}
BY_ATTRIBUTE: tuple[tuple[str, Writer], ...] = (("coef_", linear),)
