"""Support vector machines: kernels on 5,000 to 50,000 rows, classes, regression, one class."""

import numpy as np

from benchmarks.harness import Case

GAMMA = 1 / 20


def rows(n, separation=1.0):
    from sklearn.datasets import make_classification

    X, y = make_classification(
        n, 20, n_informative=10, n_redundant=4, flip_y=0.05, class_sep=separation, random_state=0
    )
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def medium():
    return rows(10_000)


def large():
    return rows(50_000)


def gram():
    """A Gaussian kernel of 5,000 rows as a matrix."""
    from sklearn.metrics.pairwise import rbf_kernel

    X, y = rows(5_000)
    return rbf_kernel(X, gamma=GAMMA), y


def groups():
    from sklearn.datasets import make_classification

    X, y = make_classification(
        10_000, 20, n_informative=10, n_redundant=4, n_classes=5, random_state=0
    )
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def group_gram():
    """The same of five classes."""
    from sklearn.metrics.pairwise import rbf_kernel

    X, y = groups()
    return rbf_kernel(X[:5_000], gamma=GAMMA), y[:5_000]


def curve():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5_000, 10))
    return X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=5_000)


def small():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 6))
    return X, (X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=200) > 0).astype(int)


def dual(model, X, y):
    """The dual objective of a classifier's solution, in double precision."""
    from pellucid.core.functions.kernels import GaussianKernel
    from pellucid.kernel.svm.smo import Gram

    beta = np.zeros(len(X))
    beta[np.asarray(model.support_, int)] = np.asarray(model.dual_coef_)[0]
    sign = 2.0 * y - 1.0
    beta *= np.sign(sign @ beta)  # ThunderSVM counts the class of the first row as positive
    return sign @ beta - 0.5 * beta @ Gram(GaussianKernel((0.5 / GAMMA) ** 0.5), X).product(beta)


def classify(svm, data):
    """Fit; the dual objective is the answer (computed for all contenders alike)."""
    X, y = data
    return dual(svm.SVC(gamma=GAMMA).fit(X, y), X, y)


def polynomial(svm, data):
    X, y = data
    return svm.SVC(kernel="poly", gamma=GAMMA, coef0=1.0).fit(X, y).decision_function(X[:500])


def precomputed(svm, data):
    K, y = data
    return svm.SVC(kernel="precomputed").fit(K, y).decision_function(K[:500])


def precomputed_pairs(svm, data):
    K, y = data
    model = svm.SVC(kernel="precomputed", decision_function_shape="ovo").fit(K, y)
    return model.decision_function(K[:500])


def several(svm, data):
    X, y = data
    model = svm.SVC(gamma=GAMMA, decision_function_shape="ovo").fit(X, y)
    return model.decision_function(X[:500])


def regress(svm, data):
    X, y = data
    return svm.SVR(gamma=0.1).fit(X, y).predict(X[:500])


def nu_classify(svm, data):
    X, y = data
    return svm.NuSVC(nu=0.3, gamma=GAMMA).fit(X[:4000], y[:4000]).decision_function(X[:500])


def nu_regress(svm, data):
    X, y = data
    return svm.NuSVR(gamma=0.1).fit(X, y).predict(X[:500])


def one_class(svm, data):
    X, _ = data
    return svm.OneClassSVM(nu=0.1, gamma=GAMMA).fit(X).decision_function(X[:2000])


def predict(svm, data):
    """Many predictions of one model fitted to few rows."""
    X, y = data
    return svm.SVC(gamma=GAMMA).fit(X[:3000], y[:3000]).decision_function(X)


def many_fits(svm, data):
    X, y = data
    total = 0.0
    for i in range(100):
        held = np.arange(len(X)) % 5 == i % 5
        total += svm.SVC().fit(X[~held], y[~held]).predict(X[held]).sum()
    return total


def hard_margin(data):
    """The exact programme on rows that a plane separates."""
    from pellucid import MaximumMarginClassifier

    X, y = data
    return MaximumMarginClassifier(C=1.0).fit(X, y).primal_objective_


def hard_margin_cvxopt(data):
    from cvxopt import matrix, solvers

    X, y = data
    s, n = 2.0 * y - 1.0, len(y)
    solvers.options["show_progress"] = False
    Z = s[:, None] * X
    found = solvers.qp(
        matrix(Z @ Z.T), matrix(-np.ones(n)), matrix(np.vstack([-np.eye(n), np.eye(n)])),
        matrix(np.concatenate([np.zeros(n), np.ones(n)])), matrix(s[None]), matrix(0.0),
    )  # fmt: skip
    return -found["primal objective"]


def contenders(task, *, intelex=True, thunder=False):
    """The same task by every library."""

    def ours(data):
        from pellucid import kernel

        return task(kernel, data)

    def libsvm(data):
        from sklearn import svm

        return task(svm, data)

    def onedal(data):
        from sklearnex import svm

        return task(svm, data)

    def thundersvm(data):
        import thundersvm as svm

        return task(svm, data)

    found = {"pellucid": ours, "scikit-learn": libsvm}
    found |= {"scikit-learn-intelex": onedal} if intelex else {}
    return found | ({"ThunderSVM (CPU)": thundersvm} if thunder else {})


def same_objective(ours, theirs):
    """At least as good, up to the tolerance of both."""
    return bool(ours >= theirs - 1e-4 * abs(theirs))


def near(ours, theirs):
    return bool(np.abs(ours - theirs).max() < 0.02 * max(1.0, np.abs(theirs).max()))


def close_count(ours, theirs):
    return abs(float(ours) - float(theirs)) <= 5


STEPS = "O(n) per step; a step reads two rows of K and F"
CASES = [
    Case("SVC rbf 10,000 x 20", medium, contenders(classify, thunder=True), same_objective, STEPS),
    Case("SVC rbf 50,000 x 20", large, contenders(classify, thunder=True), same_objective, STEPS,
         rounds=1, repeats=1),
    Case("SVC polynomial of degree 3, 10,000 x 20", medium, contenders(polynomial), near, STEPS),
    Case("SVC precomputed, 5,000 rows", gram, contenders(precomputed), near,
         "200 MB read to check them and for the certificate, the rows of K that steps ask for"),
    Case("SVC precomputed, 5 classes, 5,000 rows", group_gram, contenders(precomputed_pairs), near,
         "as above for each of 10 pairs of classes; nothing is copied"),
    Case("SVC rbf, 5 classes, 10,000 x 20", groups, contenders(several), near, STEPS),
    Case("SVC prediction, 10,000 x 20", medium, contenders(predict), near, "n s p multiply-adds"),
    Case("SVC 160 x 6, 100 fits", small, contenders(many_fits), close_count, "call overhead"),
    Case("SVR rbf 5,000 x 10", curve, contenders(regress), near, STEPS),
    Case("NuSVC rbf 4,000 x 20", medium, contenders(nu_classify), near, STEPS),
    Case("NuSVR rbf 5,000 x 10", curve, contenders(nu_regress), near, STEPS),
    Case("OneClassSVM rbf 10,000 x 20", medium, contenders(one_class, intelex=False), near, STEPS),
    Case("MaximumMarginClassifier, soft, 200 x 6", small,
         {"pellucid": hard_margin, "cvxopt": hard_margin_cvxopt},
         lambda a, b: abs(a - b) < 1e-5 * abs(b), "a Cholesky factor per step"),
]  # fmt: skip
