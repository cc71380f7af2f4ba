"""The pages of the lab, one method each, made from folders that are imported when asked for.

A folder holds what several methods share: rows, drawings, controls, presets. ``METHODS`` gives each
method its address, its title, and the value of the folder's control "method" that it stands for.
Read ``least_squares/page.py`` first: controls, presets and the run that makes frames.
"""

from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

# address | title | folder: values of its control "method" | estimators that it shows
METHODS = """
# Lines and curves
linear_regression | Least squares | least_squares: least squares | LinearRegression
ridge | Ridge regression | least_squares: ridge | Ridge
lasso | The lasso | least_squares: lasso | Lasso, ElasticNet
subset_selection | Choosing columns | subsets: stepwise | StepwiseRegression
polynomials | Polynomials, bias and variance | polynomials: polynomial | PolynomialFeatures
natural_spline | Natural splines | polynomials: natural spline | SplineTransformer
smoothing_spline | Smoothing splines | polynomials: smoothing spline | SmoothingSpline
poisson_regression | Regression for counts | counts: Poisson | PoissonRegressor,
    NegativeBinomialRegressor
support_vector_regression | Support vector regression | curves: tube | SVR, NuSVR, LinearSVR
robust_regression | Robust regression | curves: robust | HuberRegressor, RANSACRegressor
isotonic_regression | Isotonic regression | curves: pooling | IsotonicRegression
gaussian_process | Gaussian process | curves: process | GaussianProcessRegressor
# Downhill
gradient_descent | Gradient descent | descent: gradient descent | GradientDescent
stochastic_descent | Stochastic gradient descent | descent: stochastic, mini-batch | SGDRegressor
momentum | Momentum | descent: momentum |
newton | Newton's method | descent: Newton | Newton
# Boundaries
logistic_regression | Logistic regression | linear_classifiers: logistic regression |
    LogisticRegression
perceptron | The perceptron | linear_classifiers: perceptron | Perceptron
lda | Linear discriminant analysis | linear_classifiers: LDA | LinearDiscriminantAnalysis
qda | Quadratic discriminant analysis | linear_classifiers: QDA | QuadraticDiscriminantAnalysis
nearest_neighbours | Nearest neighbours | neighbours: regions by k, one query |
    KNeighborsClassifier, RadiusNeighborsClassifier
voronoi | Voronoi cells | neighbours: Voronoi cells | NearestNeighbors
label_spreading | Label spreading | few_labels: spreading | LabelSpreading, LabelPropagation
maximum_margin | The widest margin | margins: linear | MaximumMarginClassifier, LinearSVC
kernel_svm | Support vectors with kernels | margins: quadratic (lift to 3-D), Gaussian | SVC
# Beliefs
gaussian_naive_bayes | Gaussian naive Bayes | bayes: Gaussian naive Bayes | GaussianNB
bayes_rule | Bayes' rule by counting | bayes: Bayes rule on counts |
    CategoricalNB, MultinomialNB, BernoulliNB
conjugate | Conjugate updates | bayes: conjugate updates |
laplace | Laplace's approximation | bayes: Laplace approximation |
metropolis | Metropolis sampling | bayes: Metropolis |
# Trees and committees
cart | CART | decision_trees: CART | DecisionTreeClassifier, ReducedErrorPruning
regression_tree | Regression tree | curves: stairs | DecisionTreeRegressor
id3 | ID3 | decision_trees: ID3 | MultiwayTreeClassifier
c45 | C4.5 | decision_trees: C4.5 |
bagging | Bagging | ensembles: bagging | BaggingClassifier
random_forest | Random forest | ensembles: random forest | RandomForestClassifier
adaboost | AdaBoost | ensembles: AdaBoost | AdaBoostClassifier
gradient_boosting | Gradient boosting | ensembles: gradient boosting |
    GradientBoostingClassifier, HistGradientBoostingClassifier
# Networks
neural_network | A neural network learns | networks: epochs | MLPClassifier
backpropagation | Backpropagation, one row | networks: forward and back | MLPRegressor
autoencoder | Autoencoder | codes: autoencoder | Autoencoder
recurrence | Recurrent network | recurrence: recurrence | RecurrentClassifier,
    RecurrentRegressor
attention | Attention | attending: attention | TransformerClassifier,
    TransformerSequenceModel
convolution | Convolution | images: slide, learn | ConvolutionalClassifier
adversaries | Forger and detective | adversaries: adversaries | GenerativeAdversarialNetwork
# Groups and directions
kmeans | k-means | clusters: k-means | KMeans
gaussian_mixture | Gaussian mixture by EM | clusters: mixture | GaussianMixture
agglomerative | Agglomerative clustering | clusters: agglomerative | AgglomerativeClustering
divisive | Divisive clustering | clusters: divisive | DivisiveClustering
dbscan | DBSCAN | clusters: density | DBSCAN
optics | OPTICS | clusters: visits | OPTICS
spectral | Spectral clustering | clusters: spectral | SpectralClustering
isolation_forest | Isolation forest | anomalies: isolation forest | IsolationForest
one_class_svm | One-class SVM | anomalies: one-class SVM | OneClassSVM
pca | Principal components | projections: PCA | PCA
scree | Principal components of six columns | projections: six columns |
probabilistic_pca | Probabilistic PCA | projections: PPCA | ProbabilisticPCA
factor_analysis | Factor analysis | factors: factors | FactorAnalysis
kernel_pca | Kernel principal components | maps: kernel PCA | KernelPCA
parts | Sums of parts | additive: NMF | NMF
tsne | t-SNE | embedding: t-SNE | TSNE
# Causes and evidence
bayesian_network | Evidence in a Bayesian network | bayesian_networks: evidence | BayesianNetwork
d_separation | d-separation | bayesian_networks: d-separation |
network_counts | Tables of a network by counting | bayesian_networks: counts |
network_em | Tables of a network by EM | bayesian_networks: EM |
hidden_markov | Hidden Markov model | sequences: passes |
    HiddenMarkovModel
# Acting
value_iteration | Value iteration | control: value iteration | ValueIteration
policy_iteration | Policy iteration | control: policy iteration | PolicyIteration
td_learning | Temporal differences | control: TD | TDLearning
q_learning | Q-learning | control: Q-learning | QLearning
sarsa | SARSA | control: SARSA | SARSA
deep_q | Deep Q-network | control: deep Q-network | DeepQNetwork
policy_gradient | Policy gradient | control: policy gradient | PolicyGradient
# Judging
threshold | Where to put the threshold | judging: threshold | CutPointClassifier
calibration | Calibration | judging: calibration | CalibratedClassifierCV
cross_validation | Cross-validation | judging: folds |
conformal | Conformal prediction | curves: intervals | ConformalRegressor, ConformalClassifier
t_tests | t-tests where nothing differs | judging: t-tests |
error_bound | A bound on the error | judging: bound |
tuning_on_test | Tuning on the test rows | judging: tune on the test rows, random lines |
"""


class Entry(NamedTuple):
    """A line of ``METHODS``."""

    title: str
    chapter: str
    folder: str
    methods: tuple[str, ...]
    shows: tuple[str, ...]


def read_entries(text: str) -> dict[str, Entry]:
    """Address -> entry, in the order of the text.

    >>> read_entries("# A\\nb | B | c: d, e | F")["b"].methods
    ('d', 'e')
    """
    found, chapter = {}, ""
    for line in text.strip().replace("\n    ", " ").splitlines():
        if line.startswith("# "):
            chapter = line[2:]
            continue
        address, title, place, shows = (part.strip() for part in line.split("|"))
        folder, methods = place.split(": ")
        names = tuple(name.strip() for name in shows.split(",") if name.strip())
        found[address] = Entry(title, chapter, folder, tuple(methods.split(", ")), names)
    return found


ENTRIES = read_entries(METHODS)
PAGES = {address: entry.title for address, entry in ENTRIES.items()}  # as the lab lists them
SHOWN = {address: entry.shows for address, entry in ENTRIES.items()}


def named(name: str) -> str | None:
    """The page of that name, of an estimator, or the first of a folder; case is ignored.

    >>> named("kmeans"), named("DBSCAN"), named("clusters"), named("Zebra")
    ('kmeans', 'dbscan', 'kmeans', None)
    """
    by_name = {entry.folder: address for address, entry in reversed(ENTRIES.items())}
    by_name |= {estimator: address for address, shown in SHOWN.items() for estimator in shown}
    by_name |= {address: address for address in PAGES}
    return {key.casefold(): page for key, page in by_name.items()}.get(name.casefold())


@cache
def page_of(name: str) -> Any:
    """The page of that address, or a sentence."""
    if name not in ENTRIES:
        raise ValueError(f"there is no page {name!r} in the lab; there are: {', '.join(PAGES)}")
    from pellucid.lab.stories import with_story

    entry = ENTRIES[name]
    return with_story(folder_of(entry.folder).of_method(name, entry))


def folder_of(name: str) -> Any:
    """What the methods of a folder share: all of its presets and controls."""
    return import_module(f"pellucid.lab.pages.{name}.page").PAGE
