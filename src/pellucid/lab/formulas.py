"""The update of one step as a line of text, with the numbers of this step filled in.

A family of algorithms has one writer (``formula_lines`` for linear models, ``formula_families``
for the others); ``WRITERS`` says which class belongs to which family. A class that is not listed
and has coefficients is read as a linear model, and whatever is left says how its objective moved.
Nothing is computed here but differences of what the fit itself recorded.
"""

from functools import partial

from pellucid.lab import formula_families as families
from pellucid.lab import formula_lines as lines
from pellucid.lab.drawing import number
from pellucid.lab.formula_families import acting
from pellucid.lab.formula_lines import Moment, Writer, change, joined


def formula_of(moment: Moment) -> str:
    """The formula of a step; never empty."""
    if moment.model is None:
        value = moment.value("objective")
        return joined("start" if value is None else f"start at J = {number(value)}", moment.words)
    for kind in type(moment.model).__mro__:
        if kind.__name__ in WRITERS:
            return WRITERS[kind.__name__](moment)
    return change(moment) if getattr(moment.model, "coef_", None) is None else lines.linear(moment)


def of_each(writer: Writer, *names: str) -> dict[str, Writer]:
    return dict.fromkeys(names, writer)


def of_both(writer: Writer, *stems: str) -> dict[str, Writer]:
    """For classifier and regressor of each name."""
    return of_each(writer, *(stem + kind for stem in stems for kind in ("Classifier", "Regressor")))


LARS_RULE = "w_A ← w_A + γ (X_AᵀX_A)⁻¹ X_Aᵀr"
FIRTH_RULE = "w ← w + H⁻¹ Xᵀ(y − p + h(½ − p))"
ADP_RULE = "P̂, r̂ from counts, then U solves Bellman's equations"
SARSA_RULE = "Q(s,a) ← Q(s,a) + η [r + γ Q(s′,a′) − Q(s,a)]"
DEEP_Q_RULE = "θ ← θ − η ∇ [r + γ max Q⁻(s′,·) − Q(s,a)]²"
Q_RULE = "Q(s,a) ← Q(s,a) + η [r + γ max Q(s′,·) − Q(s,a)]"
DOUBLE_Q_RULE = (
    "Q_A(s,a) ← Q_A(s,a) + η [r + γ Q_B(s′, argmax Q_A(s′,·)) − Q_A(s,a)], A and B by a coin"
)
WRITERS: dict[str, Writer] = {
    **of_both(lines.stochastic, "SGD"),
    **of_each(lines.perceptron, "Perceptron"),
    **of_each(partial(lines.linear, rule=LARS_RULE), "LassoLars", "LassoLarsIC"),
    **of_each(partial(lines.linear, rule=FIRTH_RULE), "FirthLogisticRegression"),
    **of_each(lines.stagewise, "StagewiseRegression"),
    **of_each(
        lines.stepwise, "StepwiseRegression", "StepwiseLogisticRegression", "ScoreBasedStructure"
    ),
    **of_each(families.centres, "KMeans", "BisectingKMeans"),
    **of_each(families.fuzzy_centres, "FuzzyCMeans", "PossibilisticCMeans"),
    **of_each(families.medoids, "KMedoids"),
    **of_each(partial(families.likelihood, rule=families.ASCENT), "GradientGaussianMixture"),
    **of_each(partial(families.likelihood, rule=families.BAUM_WELCH), "HiddenMarkovModel"),
    **of_each(
        partial(families.likelihood, rule=families.BOUND, what="bound"), "BayesianGaussianMixture"
    ),
    **of_each(families.likelihood, "GaussianMixture", "Mixture", "SemiSupervisedMixture"),
    **of_each(families.adaboost, "AdaBoostClassifier"),
    **of_both(families.boosting, "GradientBoosting", "HistGradientBoosting"),
    **of_both(families.forest, "RandomForest", "ExtraTrees"),
    **of_both(families.tree, "DecisionTree", "MultiwayTree"),
    **of_each(
        families.support, "SVC", "SVR", "NuSVC", "NuSVR", "OneClassSVM", "MaximumMarginClassifier"
    ),
    **of_each(families.network, "MLPClassifier", "MLPRegressor", "Autoencoder"),
    **of_each(families.planning, "ValueIteration"),
    **of_each(partial(families.planning, rule=families.POLICY), "PolicyIteration"),
    **of_each(partial(families.planning, rule=families.STAGES), "FiniteHorizon"),
    **of_each(partial(families.planning, rule=families.PROGRAMME), "LinearProgramming"),
    **of_each(partial(acting, rule=Q_RULE), "QLearning"),
    **of_each(partial(acting, rule=DOUBLE_Q_RULE), "DoubleQLearning"),
    **of_each(partial(acting, rule=SARSA_RULE), "SARSA"),
    **of_each(partial(acting, rule="U(s) ← U(s) + η [r + γ U(s′) − U(s)]"), "TDLearning"),
    **of_each(partial(acting, rule="U(s) ← mean of the returns from s"), "MonteCarloLearning"),
    **of_each(partial(acting, rule=DEEP_Q_RULE), "DeepQNetwork"),
    **of_each(partial(acting, rule="θ ← θ + η G ∇ ln π(a | s)"), "PolicyGradient"),
    **of_each(partial(acting, rule=ADP_RULE), "AdaptiveDynamicProgramming"),
    **of_each(families.naive_bayes, "GaussianNB", "BernoulliNB", "MultinomialNB"),
    **of_each(families.naive_bayes, "CategoricalNB", "MixedNB", "TextNB"),
    **of_each(
        families.discriminant,
        "LinearDiscriminantAnalysis",
        "QuadraticDiscriminantAnalysis",
        "RegularizedDiscriminantAnalysis",
        "RegularizedDiscriminantAnalysisCV",
    ),
    **of_each(families.components, "PCA"),
    **of_each(partial(families.components, of="the centred Gram matrix"), "KernelPCA"),
    **of_both(families.neighbours, "KNeighbors", "RadiusNeighbors"),
}
