"""Every warning of the library names the line of the user who called it.

``CALLS`` provokes the warnings one by one, each from a single expression of this file; a search of
the source finds the places that warn, and each place must be among those provoked or be excused.
"""

import ast
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from joblib import parallel_config
from scipy.sparse import csr_matrix
from sklearn.ensemble import BaggingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process.kernels import RBF
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pellucid as p
from pellucid import evaluation, graphical, linear, neighbors, neural, reinforcement, solvers
from pellucid.core.runtime import warn as module
from pellucid.core.runtime.threads import limit_threads, map_threads
from pellucid.mixture.components import PoissonComponent

SOURCE = Path(module.__file__).parents[2]
FAMILIES = (
    *("cluster", "core", "decomposition", "deep", "discriminant", "ensemble", "features"),
    *("graphical", "kernel", "linear", "mixture", "naive_bayes", "neighbors", "neural"),
    *("reinforcement", "solvers", "tree"),
)
EXCUSED = {  # places that no small table provokes
    "deep/adversaries/adversarial.py": "needs PyTorch; tests/deep provoke it",
    "linear/penalties/dantzig.py": "SciPy's linear programmes end within their bounds",
    "linear/robust/quantile.py:the simplex stopped": "needs thousands of rows in one point",
}

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 4))
noise = rng.normal(size=60)
y = X[:, 0] + noise
c = (y > 0).astype(int)
three = np.digitize(y, [-0.7, 0.7])
twice = np.column_stack([X, X[:, 0]])  # linearly dependent columns
flat = np.column_stack([X, np.ones(60)])
parted = (X[:, 0] > 0).astype(int)  # classes that a plane separates
powers = np.linspace(0, 1, 50)[:, None] ** np.arange(1, 13)
wave = np.sin(9 * powers[:, 0])
counts = np.arange(60)[:, None] % 7
wide = rng.normal(size=(6, 20))
many = csr_matrix(np.eye(9))
none = np.full(60, -1)
none[:2] = 0, 1
line = np.r_[np.arange(10.0), np.arange(100.0, 105.0)][:, None]
frame = pl.DataFrame({"a": [0, 0, 1], "b": [0, 0, 0], "c": [1, 0, 1]})
groups = np.vstack([rng.normal(m, 1, (40, 2)) for m in (0, 5, 10)])
AND, XOR = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), [0, 1, 1, 0]

mdp = reinforcement.MDP([[[0.0, 1.0]], [[1.0, 0.0]]], [[1.0], [2.0]], discount=0.9)
endless = reinforcement.MDP([[[0.0, 1.0]], [[1.0, 0.0]]], [[1.0], [2.0]], discount=1.0)
square = solvers.LinearObjective([[1, 0], [1, 1], [1, 2]], [1, 2, 4], scale="half_mean")
parted_loss = solvers.LinearObjective(X, parted, "logistic")
saddle = solvers.Objective(lambda x: x[0] ** 2 - x[1] ** 2 + x[1] ** 4)
sure = p.BayesianNetwork(
    cpds=[
        graphical.CPT("a", [0.999, 0.001]),
        graphical.CPT("b", [[1.0, 0.0], [0.0, 1.0]], parents="a"),
    ]
)
dead = neural.Network.from_weights(
    [np.ones((4, 2)), np.ones((2, 1))], [[-1e3, -1e3], [0.0]], activations=["relu", "identity"]
)


class Worse(p.DecisionTreeClassifier):
    """Learns in its first fit and is wrong afterwards."""

    fits = 0

    def fit(self, X, y, sample_weight=None):
        Worse.fits += 1
        return super().fit(X, y if Worse.fits % 2 else 1 - np.asarray(y), sample_weight)


class Uphill(RBF):
    """Its gradient has the wrong sign, so that no step descends."""

    def __call__(self, X, Y=None, eval_gradient=False):
        found = super().__call__(X, Y, eval_gradient)
        return (found[0], -found[1]) if eval_gradient else found


CALLS = [
    # cluster
    lambda: p.AgglomerativeClustering(linkage="centroid").fit([[0, 0], [1, 0], [0.5, 0.866]]),
    lambda: p.AgglomerativeClustering(connectivity=many).fit(wide[[0, 1, 2, 3, 4, 5, 0, 1, 2]]),
    lambda: p.BisectingKMeans(4).fit([[1.0], [1.0], [2.0], [2.0], [2.0]]),
    lambda: p.BisectingKMeans(3, max_iter=1, tol=0.0, random_state=0).fit(X),
    lambda: p.KMeans(3, init=X[:3], n_init=4).fit(X),
    lambda: p.KMeans(4, n_init=1, random_state=0).fit(np.repeat([[0.0], [1.0]], 5, axis=0)),
    lambda: p.KMeans(3, init=[[0.0], [1.0], [900.0]], stop="labels").fit(line),
    lambda: p.KMeans(6, max_iter=1, tol=0, random_state=0).fit(X),
    lambda: p.MiniBatchKMeans(6, init_size=2, random_state=0).fit(X),
    lambda: p.MeanShift(bandwidth=0.01, bin_seeding=True).fit(X),
    lambda: p.MeanShift(max_iter=0).fit(X),
    lambda: p.OPTICS(max_eps=0.0).fit(X),
    lambda: p.OPTICS(metric="jaccard").fit(X),
    lambda: p.FuzzyCMeans(2, init=X[:2], n_init=3).fit(X),
    lambda: p.FuzzyCMeans(4, max_iter=2, tol=0.0, random_state=0).fit(X),
    lambda: p.PossibilisticCMeans(2, max_iter=1, tol=0.0, random_state=0).fit(X),
    lambda: p.PossibilisticCMeans(2, random_state=0).fit(np.ones((5, 2))),
    lambda: p.SpectralClustering(2, affinity="precomputed", random_state=0).fit(
        np.kron(np.eye(4), np.ones((3, 3)))
    ),
    lambda: p.SpectralClustering(2, affinity="precomputed", random_state=0).fit(
        np.triu(np.ones((9, 9))) + 0.1
    ),
    # core
    lambda: p.PolynomialFeatures(2).fit_transform([[1e200]]),
    lambda: p.KNeighborsClassifier(3, metric="cosine").fit(np.vstack([0 * X[:1], X]), np.r_[0, c]),
    lambda: neighbors.pairwise_distances(twice, metric=neighbors.Mahalanobis()),
    lambda: p.LogisticRegression(max_iter=1).fit(X, c),
    lambda: solvers.GradientDescent(0.9).minimise(square, "ones"),
    # decomposition
    lambda: p.FastICA(whiten_solver="eigh", random_state=0, tol=1.0).fit(twice),
    lambda: p.FastICA(2, whiten=False, random_state=0, tol=1.0).fit(X),
    lambda: p.FastICA(9, random_state=0, tol=1.0).fit(X),
    lambda: p.MDS(n_init=1, random_state=0).fit(X[:4]),
    lambda: p.Isomap(n_neighbors=1).fit(X),
    lambda: p.NMF(2, random_state=0, tol=1.0).fit_transform(X**2, H=np.ones((2, 4))),
    lambda: p.NMF(2, init="nndsvd", solver="mu", tol=1.0).fit(X**2),
    lambda: p.TSNE(perplexity=5).fit(np.ones((20, 3))),
    # discriminant
    lambda: p.LinearDiscriminantAnalysis(priors=[1, 1]).fit(X, c),
    lambda: p.LinearDiscriminantAnalysis().fit(twice, c),
    lambda: p.RegularizedDiscriminantAnalysisCV(alphas=[0, 1], gammas=[0, 0.5]).fit(
        rng.normal(size=(12, 6)), np.arange(12) % 2
    ),
    # ensemble
    lambda: p.AdaBoostClassifier(Worse(max_depth=1), random_state=0).fit(X, c),
    lambda: p.AdaBoostRegressor(random_state=0).fit(0 * X, parted),
    lambda: p.AdaBoostRegressor(learning_rate=50.0, random_state=0).fit(X, y),
    lambda: p.HistGradientBoostingRegressor(learning_rate=3.0).fit(X, y),
    lambda: p.BaggingClassifier(n_estimators=2, oob_score=True, random_state=0).fit(X, c),
    lambda: p.BaggingClassifier(n_estimators=2, warm_start=True).fit(X, c).fit(X, c),
    lambda: p.IsolationForest(max_samples=100, random_state=0).fit(X),
    lambda: p.StackingClassifier([("a", p.GaussianNB())], cv="same").fit(X, c),
    lambda: p.RandomForestClassifier(3, warm_start=True).fit(X, c).fit(X, c),
    lambda: p.RandomForestClassifier(2, oob_score=True, random_state=0).fit(X, c),
    lambda: (
        p.RandomForestRegressor(50, random_state=0)
        .fit(X[:9], y[:9])
        .calibrate_intervals(X[:9], y[:9], confidence=0.99)
    ),
    lambda: p.MultiOutputClassifier(p.LogisticRegression()).fit(X, np.column_stack([c, 0 * c + 1])),
    lambda: p.ClassifierChain(p.LogisticRegression()).fit(X, np.column_stack([c, 0 * c + 1])),
    lambda: p.OneVsRestClassifier(p.LogisticRegression()).fit(X, np.column_stack([c, 0 * c + 1])),
    lambda: p.SelfTrainingClassifier(p.GaussianNB()).fit(X, c),
    lambda: p.SelfTrainingClassifier(p.GaussianNB(), criterion="k_best", k_best=999).fit(X, none),
    # features
    lambda: p.TruncatedPowerBasis([4.0, 20.0]).fit(line[:9]),
    lambda: p.TruncatedPowerBasis([1.0, 1.0, 2.0]).fit(line),
    lambda: p.SplineTransformer().fit(np.ones((4, 1))),
    lambda: p.KBinsDiscretizer().fit(np.ones((9, 1))),
    lambda: p.OneHotEncoder(handle_unknown="warn").fit([["a"]]).transform([["b"]]),
    lambda: p.SimpleImputer().fit_transform([[1.0, np.nan], [2.0, np.nan]]),
    lambda: p.StandardScaler().fit(flat),
    lambda: (
        p.PowerTransformer("box-cox", standardize=False)
        .fit(1 / np.exp(X[:, :1]))
        .inverse_transform([[1e6]])
    ),
    lambda: p.QuantileTransformer(n_quantiles=99).fit(X),
    lambda: p.QuantileTransformer(n_quantiles=9, ignore_implicit_zeros=True).fit(X),
    lambda: p.RFE(p.LinearRegression(), n_features_to_select=9).fit(X, y),
    lambda: p.RFECV(p.LinearRegression(), min_features_to_select=9, cv=2).fit(X, y),
    lambda: p.SelectFromModel(p.LinearRegression(), threshold=99.0).fit(X, y).transform(X),
    lambda: p.SelectKBest(k=9).fit(X, c),
    lambda: p.CountVectorizer(analyzer="char", stop_words=["a"]).fit(["a b"]),
    lambda: p.TfidfVectorizer(dtype=int).fit(["a few words"]),
    lambda: p.CountVectorizer(vocabulary=["Word"]).fit(["a Word"]),
    # graphical
    lambda: sure.approximate("a", {"b": 1}, n_samples=20_000, random_state=3),
    lambda: p.BayesianNetworkClassifier().fit([[0], [1], [1], [0]], [0, 1, 1, 0]).predict([[7]]),
    lambda: p.BayesianNetwork([("a", "c"), ("b", "c")], states={"b": [0, 1]}).fit(frame),
    lambda: p.MixedBayesianNetwork([("k", "x")], prior=graphical.DirichletPrior()).fit(
        pl.DataFrame({"k": ["a"] * 5 + ["b"], "x": [1.0, 2, 4, 3, 5, 9]})
    ),
    lambda: (
        p.BayesianNetwork([("a", "c")])
        .fit(frame[["a", "c"]])
        .predict_proba(pl.DataFrame({"a": [5], "c": [0]}))
    ),
    # kernel
    lambda: p.Nystroem(n_components=99, random_state=0).fit(X),
    lambda: p.NuSVC(nu=0.5).fit(np.ones((4, 2)), [0, 1, 0, 1]),
    lambda: p.SVC(max_iter=1).fit(X, c),
    lambda: (
        p.GaussianProcessRegressor(1e8 * RBF(), optimizer=None)  # variances that round to 0
        .fit(X, y)
        .predict(X, return_std=True)
    ),
    lambda: p.GaussianProcessRegressor(Uphill(1.0), alpha=0.1).fit(X, y),
    lambda: p.SparseGaussianProcessRegressor(n_inducing=5, max_iter=1).fit(X, y),
    lambda: p.GaussianProcessRegressor(RBF(1.0, (1.0, 1.1)), alpha=0.1).fit(line, line[:, 0]),
    # linear
    lambda: p.CCA(2).fit(X, np.c_[X[:, 0], X[:, 0]]),
    lambda: p.BayesianLinearRegression(noise_variance=linear.InverseGamma(0.1, 1.0)).fit(
        X[:1], y[:1]
    ),
    lambda: p.BayesianLinearRegression().fit(X, X @ [1.0, 2, 3, 4]),
    lambda: p.BayesianLinearRegression().fit(X[:1], y[:1]),
    lambda: p.BayesianLogisticRegression(
        method="metropolis", n_draws=50, n_burn=0, step=0.01, random_state=0
    ).fit(X, c),
    lambda: p.BayesianLogisticRegression(
        method="metropolis", n_draws=200, step=50.0, random_state=0
    ).fit(X, c),
    lambda: p.PrincipalComponentRegression().fit(wide, y[:6]),
    lambda: p.LassoLars(alpha=0.001, max_iter=1).fit(X, y),
    lambda: p.LassoLarsIC("bic").fit(wide, y[:6]),
    lambda: p.LassoLarsIC("bic").fit(X, X[:, 0] - X[:, 1]),
    lambda: p.StagewiseRegression(max_iter=3).fit(X, y),
    lambda: p.IsotonicRegression(increasing="auto").fit(X[:, 0], X[:, 1]),
    lambda: linear.lasso_path(powers, wave, max_iter=1, tol=0.0, eps=1e-6),
    lambda: p.Lasso(0.0).fit(twice, y),
    lambda: p.Lasso(0.1).fit(twice, y, penalty_weights=[0, 1, 1, 1, 0]),
    lambda: p.Lasso(1e-7, max_iter=1, tol=1e-12).fit(powers, wave),
    lambda: p.LeastSquaresClassifier().fit(twice, three),
    lambda: p.LeastSquaresClassifier().fit(np.arange(6.0)[:, None], [0, 0, 1, 1, 2, 2]),
    lambda: p.LinearRegression().fit(twice, y),
    lambda: p.LinearRegression(solver="normal").fit(powers, np.arange(50.0)),
    lambda: p.LinearRegression().fit([[2.0]], [3.0]),
    lambda: p.LinearRegression(positive=True).fit(X, y).summary(),
    lambda: p.LinearRegression().fit(X, y).predict_interval(X, kind="plugin"),
    lambda: p.FirthLogisticRegression().fit(twice, c),
    lambda: p.LogisticRegression().fit(X, c).summary(),
    lambda: p.LogisticRegression("l1", C=0.1).fit(X, c),
    lambda: p.LogisticRegression(C=np.inf).fit(twice, c),
    lambda: p.LogisticRegression(C=np.inf).fit(X, parted),
    lambda: p.LogisticRegressionCV(max_iter=1).fit(rng.normal(size=(30, 40)), np.arange(30) % 2),
    lambda: p.OrdinalLogisticRegression(max_iter=500).fit(
        X[:, :1], np.digitize(X[:, 0], [-0.5, 0.5])
    ),
    lambda: p.OrdinalLogisticRegression().fit(twice, three),
    lambda: p.OrdinalLogisticRegression(C=1.0).fit(X, three).summary(),
    lambda: linear.logistic_path(X, c, Cs=[0.1, 1.0, 10.0], l1_ratio=1.0, max_iter=1, tol=1e-6),
    lambda: p.BridgeRegression(q=1.5, max_iter=1, tol=1e-12).fit(X, y),
    lambda: p.Perceptron(max_iter=30, tol=None).fit(AND, XOR),
    lambda: p.Ridge(alpha=0).fit(twice, y),
    lambda: p.Ridge(alpha=0).fit([[2.0]], [3.0]),
    lambda: p.QuantileRegressor(alpha=0).fit(twice, y),
    lambda: p.QuantileRegressor(alpha=0).fit(X, X @ [1.0, 2, 3, 4]).summary(),
    lambda: p.RANSACRegressor(max_skips=0, stop_probability=1.0, random_state=0).fit(X, y),
    lambda: p.ScaledRegressor(scaler=StandardScaler()).fit(flat, y),
    lambda: p.SmoothingSpline(0.1).fit([[1.0], [2.0], [3.0]], [1.0, 2.0, 2.5]),
    lambda: p.SGDRegressor(max_iter=2, random_state=0).fit(X, y),
    lambda: p.SGDRegressor(learning_rate="constant", eta0=50.0, random_state=0).fit(X, y),
    lambda: p.SGDClassifier(learning_rate="constant", eta0=1000.0, random_state=0).fit(X, c),
    lambda: p.SGDRegressor(
        learning_rate="constant", eta0=0.9, average=True, max_iter=50, random_state=0
    ).fit(X, y),
    lambda: p.SGDRegressor(random_state=0).fit(X * [1, 1, 1, 5000], y),
    lambda: p.SGDRegressor(
        learning_rate="optimal", alpha=0.01, average=True, max_iter=300, tol=None, random_state=0
    ).fit(X, y),
    lambda: p.OrthogonalMatchingPursuit(tol=0.1).fit(X, y),
    lambda: p.StepwiseRegression(direction="backward").fit(twice, y),
    lambda: p.StepwiseRegression().fit(X, X[:, 1] - X[:, 2]),
    lambda: p.StepwiseLogisticRegression().fit(X, parted),
    lambda: p.BestSubsetRegression().fit(X, X[:, 1] - 2 * X[:, 2] + 3),
    lambda: p.PoissonRegressor(alpha=0).fit([[0], [0], [1], [1]], [3, 2, 0, 0]),
    lambda: p.PoissonRegressor().fit(X, counts[:, 0]).predict(X * 1e9),
    lambda: p.PoissonRegressor(alpha=0).fit(twice, counts[:, 0]),
    lambda: p.PoissonRegressor().fit(X, counts[:, 0]).summary(),
    # mixture
    lambda: p.BayesianGaussianMixture(n_components=3, max_iter=1).fit(groups),
    lambda: p.GaussianMixture(3, max_iter=1, random_state=0, tol=1e-9).fit(X),
    lambda: p.GaussianMixture(2, random_state=0).fit(flat),
    lambda: p.GaussianMixture(3, random_state=0).fit([[0.0], [0.0], [1.0], [1.0], [1.0]]),
    lambda: p.GradientGaussianMixture(3, learning_rate=5.0, max_iter=30, tol=0, random_state=0).fit(
        groups
    ),
    lambda: p.Mixture(
        [PoissonComponent(), PoissonComponent()], max_iter=1, tol=1e-12, random_state=0
    ).fit(counts),
    lambda: p.EllipticEnvelope(random_state=0).fit(flat),
    lambda: p.SemiSupervisedMixture().fit(X, np.where(c == 0, -1, 1)),
    lambda: p.SemiSupervisedMixture().fit(
        np.r_[X[:6, :1], X[:6, :1] + 3, np.random.default_rng(0).normal(40, 1, (300, 1))],
        np.r_[np.zeros(6, int), np.ones(6, int), np.full(300, -1)],
    ),
    # naive_bayes
    lambda: p.CategoricalNB(alpha=0, force_alpha=False).fit([["a"], ["b"]], [0, 1]),
    lambda: p.CategoricalNB(alpha=0).fit([["a"], ["b"]], [0, 1]),
    lambda: p.CategoricalNB().fit([["a"], ["b"]], [0, 1]).predict_proba([["z"]]),
    lambda: p.MultinomialNB(alpha=0, force_alpha=False).fit([[1, 2], [2, 1]], [0, 1]),
    lambda: p.MultinomialNB(alpha=0).fit([[2.0, 0.0], [1.0, 0.0], [0.0, 3.0]], [0, 0, 1]),
    lambda: p.GaussianNB().fit([[1.0]], ["only"]),
    lambda: p.MixedNB({1: "gaussian"}).fit(
        [[1.0, 3.0], [2.0, 5.0], [1.0, np.nan], [2.0, np.nan]], [0, 0, 1, 1]
    ),
    lambda: p.MixedNB().fit([[1.0, np.nan], [2.0, np.nan], [3.0, np.nan]], [0, 0, 1]),
    lambda: p.MixedNB("kde").fit([[1.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]),
    lambda: p.MixedNB(alpha=0.0).fit(pl.DataFrame({"c": ["a", "a", "b", "b"]}), [0, 0, 1, 1]),
    lambda: p.MixedNB("poisson").fit([[0], [0], [1], [3]], [0, 0, 1, 1]),
    lambda: (
        p.MixedNB()
        .fit(pl.DataFrame({"c": ["a", "b", "a"]}), [0, 0, 1])
        .predict_proba(pl.DataFrame({"c": ["z"]}))
    ),
    # neighbors
    lambda: p.CondensedNearestNeighbour().fit([[0.0], [0.0], [1.0]], [0, 1, 1]),
    lambda: p.LabelPropagation().fit(line, np.r_[3, np.full(8, -1), 7, np.full(5, -1)]),
    lambda: (
        p.LabelPropagation("knn", n_neighbors=4)
        .fit(line, np.r_[0, np.full(6, -1), 1, np.full(7, -1)])
        .predict_proba([[102.5]])
    ),
    lambda: p.NearestCentroid().fit(flat, c),
    lambda: p.NearestCentroid(priors=[1, 1]).fit(X, c),
    lambda: p.NearestNeighbors(algorithm="kd_tree").fit(many),
    lambda: p.LocalOutlierFactor(50).fit(X[:10]),
    lambda: p.LocalOutlierFactor(3).fit(np.vstack([np.zeros((20, 2)), groups])),
    lambda: p.RadiusNeighborsClassifier(0.5, outlier_label=-1).fit(X, c).predict_proba(X + 99),
    lambda: p.RadiusNeighborsRegressor(0.5).fit(X, y).predict(X + 99),
    lambda: neighbors.pairwise_distances(np.array([[1.0, np.nan], [np.nan, 3.0]]), metric="gower"),
    lambda: p.KNeighborsClassifier(metric_params={"p": 3}).fit(X, c),
    lambda: p.KNeighborsClassifier(p=50).fit(X, c),
    # neural
    lambda: neural.initial_weights((2, 2), "zeros"),
    lambda: p.MLPRegressor(hidden_layer_sizes=dead, tol=1.0, n_iter_no_change=1).fit(X, y),
    lambda: p.MLPClassifier(max_iter=2, random_state=0).fit(X, c),
    lambda: p.MLPClassifier(learning_rate_init=1000.0, random_state=0).fit(X, c),
    lambda: p.MLPClassifier(8, solver="lbfgs", max_fun=5, random_state=0).fit(X, c),
    # reinforcement
    lambda: p.ValueIteration(max_iter=2, tol=1e-300).fit(mdp),
    lambda: p.AdaptiveDynamicProgramming(
        discount=1.0, n_episodes=2, max_steps=20, random_state=0
    ).fit(endless),
    # solvers
    lambda: solvers.irls_step([[1.0, 0.0], [1.0, 1.0]], [0, 1], [-1e4, 2e4]),
    lambda: solvers.LBFGS().minimise(solvers.Objective(lambda x: -(x[0] ** 3)), [1.0]),
    lambda: solvers.LBFGS().minimise(
        solvers.Objective(lambda x: x @ x, lambda x: -2 * x), [1.0, 0.3]
    ),
    lambda: solvers.GradientDescent(1e-4, max_iter=20).minimise(square, "zeros"),
    lambda: solvers.GradientDescent(0.9, max_iter=3, tol=None).minimise(square, "zeros"),
    lambda: solvers.GradientDescent(0.1, max_iter=20, tol=1e-3).minimise(parted_loss, "ones"),
    lambda: solvers.Newton(tol=1e-6).minimise(saddle, [1.0, 0.1]),
    lambda: solvers.newton_root(lambda x: x * x + 1, 0.0, lambda x: 2 * x),
    lambda: p.GradientBoostingRegressor(criterion="squared_error", n_estimators=1).fit(X, y),
    lambda: p.TargetEncoder(shuffle=True).fit_transform([["a"], ["b"]] * 10, np.arange(20.0) / 3),
    lambda: p.SVC(probability=True).fit(X, c),
    lambda: p.LogisticRegressionCV(penalty="l2", Cs=[1.0]).fit(X, c),
    lambda: p.RidgeCV(gcv_mode="svd").fit(csr_matrix(X), y),
]


def places() -> list[tuple[str, int, int, str]]:
    """File, first and last line, and text of every call of ``warn`` in the families."""
    found = []
    for family in FAMILIES:
        for path in sorted((SOURCE / family).rglob("*.py")):
            text = path.read_text()
            for node in ast.walk(ast.parse(text)) if "runtime.warn import" in text else ():
                name = getattr(getattr(node, "func", None), "id", "")
                if isinstance(node, ast.Call) and name in ("warn", "give_warning"):
                    words = ast.get_source_segment(text, node) or ""
                    found.append((str(path), node.lineno, node.end_lineno or 0, words))
    return found


@cache
def heard(i: int) -> tuple[list[warnings.WarningMessage], set[tuple[str, int]]]:
    """The warnings of call i, and the places of the source that gave them."""
    given: set[tuple[str, int]] = set()
    find = module._named

    def watched(frame):
        given.add((frame.f_code.co_filename, frame.f_lineno))
        return find(frame)

    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        patch.setattr(module, "_named", watched)
        CALLS[i]()
    return caught, given


@pytest.mark.parametrize(
    "i", range(len(CALLS)), ids=lambda i: f"line {CALLS[i].__code__.co_firstlineno}"
)
def test_the_line_of_the_call_is_named(i):
    caught, given = heard(i)
    lines = {line for *_, line in CALLS[i].__code__.co_lines()}
    assert given, "no warning"
    assert {w.filename for w in caught} == {__file__}
    assert {w.lineno for w in caught} <= lines


def test_every_place_that_warns_is_provoked():
    given = set().union(*(heard(i)[1] for i in range(len(CALLS))))
    missing = [
        f"{Path(path).relative_to(SOURCE)}:{first} {text[:90]!r}"
        for path, first, last, text in places()
        if not any(file == path and first <= line <= last for file, line in given)
    ]
    left = []
    for place in missing:
        rules = (key.partition(":") for key in EXCUSED)
        if not any(place.startswith(file) and word in place for file, _, word in rules):
            left.append(place)
    assert not left, "\n".join(left)
    assert len(missing) == len(EXCUSED)


def no_end(**options):
    """A fit that warns at its limit; the warning is this function's caller's to name."""
    return p.LogisticRegression(max_iter=1, **options)


search = GridSearchCV(no_end(), {"C": [1.0, 2.0]}, cv=3)
DEEP = {
    "Pipeline": lambda: make_pipeline(p.StandardScaler(), no_end()).fit(X, c),
    "GridSearchCV": lambda: search.fit(X, c),
    "cross_val_score": lambda: cross_val_score(no_end(), X, c, cv=3),
    "meta-estimator": lambda: p.OneVsRestClassifier(no_end()).fit(X, three),
    "their ensemble": lambda: BaggingClassifier(no_end(), n_estimators=3).fit(X, c),
    "our cross-validation": lambda: evaluation.cross_validated(no_end(), X, c),
    "map_threads": lambda: list(map_threads(lambda model: model.fit(X, c), [no_end()] * 4)),
    "threads of joblib": lambda: with_joblib(search),
    "a thread": lambda: in_a_thread(no_end().fit),
    "a pool": lambda: ThreadPoolExecutor(1).submit(no_end().fit, X, c).result(),
}


def with_joblib(model):
    with parallel_config("threading", n_jobs=2):
        model.fit(X, c)


def in_a_thread(function):
    worker = threading.Thread(target=function, args=(X, c))
    worker.start()
    worker.join()


@pytest.mark.parametrize("way", DEEP)
def test_whatever_the_depth_or_thread(way):
    with limit_threads(3), pytest.warns(ConvergenceWarning, match="max_iter=1") as caught:
        DEEP[way]()
    assert {w.filename for w in caught} == {__file__}


def test_helpers_of_the_pool_name_the_thread_that_waits_for_them():
    """Not the main thread: another thread of the user calls, and its line is named."""

    def call():
        model = no_end()
        list(map_threads(lambda i: (barrier.wait(), module.warn(f"row {i}")), range(3)))
        return model

    barrier = threading.Barrier(3)
    with limit_threads(3), pytest.warns(UserWarning, match="row") as caught:
        ThreadPoolExecutor(1).submit(limited(3)(call)).result()
    assert {(w.filename, w.lineno) for w in caught} == {
        (__file__, call.__code__.co_firstlineno + 2)
    }


def limited(n):
    """Run with n threads: the limit is a context variable, which a new thread does not have."""

    def of(function):
        def run():
            with limit_threads(n):
                return function()

        return run

    return of


def test_text_that_is_run_is_a_caller_too():
    scope = {"p": p, "X": X, "c": c}
    with pytest.warns(ConvergenceWarning) as caught:
        exec("\nmodel = p.LogisticRegression(max_iter=1).fit(X, c)", scope)
    assert {(w.filename, w.lineno) for w in caught} == {("<string>", 2)}
    assert "__warningregistry__" in scope


def test_a_line_is_warned_once_as_by_python_itself():
    scope = {"p": p, "X": X, "c": c, "__name__": "notebook"}
    text = compile(
        "for _ in range(3):\n    p.LogisticRegression(max_iter=1).fit(X, c)", "cell 1", "exec"
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        exec(text, scope)
    assert [(w.filename, w.lineno) for w in caught] == [("cell 1", 2)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", module="notebook")
        exec(text, scope)
    assert caught == []


def test_where_no_code_of_the_user_runs_the_outermost_frame_is_named(monkeypatch):
    monkeypatch.setattr(module, "_inside", lambda filename, package: True)
    with pytest.warns(UserWarning, match="alone") as caught:
        module.warn("alone")
    assert caught[0].filename != __file__
