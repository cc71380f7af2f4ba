"""Why a model has no standard errors, and what to use instead: one sentence for each family.

A class of the library that has no ``summary`` of its own is looked up by the module it lives in;
the longest prefix counts.
"""

HELD_OUT = "cross_validated in pellucid.evaluation gives the error of its predictions on new rows"
MATTERS = "permutation_importance in pellucid.evaluation says which columns it uses, with errors"
BAR = "a bar between usual and unusual rows has no error"
TESTS = "LogisticRegression(C=np.inf) and LinearRegression have errors"
SELECTED = (
    "the penalty biases the coefficients and chooses columns from the same rows, so the usual "
    "errors do not hold"
)
SPREAD = "fit it again on rows drawn with replacement to see how far its parameters move"

REASONS: dict[str, str] = {
    "": f"no standard errors are known for this model; {HELD_OUT}",
    "cluster": "clusters have no true labels to err from; cluster_stability in pellucid.cluster, "
    "with resample='bootstrap', compares the clusters of drawn rows",
    "cluster.choosing": "the number of clusters is chosen, not estimated; cluster_stability in "
    "pellucid.cluster says whether the clusters come back",
    "decomposition": "directions are turned by every new row and have no error of their own; "
    f"{SPREAD}",
    "decomposition.maps": "points stand by their neighbours or distances and have no errors; "
    "draw the map again from another start to see which groups stay together",
    "decomposition.maps.isomap": "points stand by their distances along a graph of neighbours and "
    "have no errors; another number of neighbours shows which groups stay together",
    "deep": f"a network has many equal minima, so its weights have no standard errors; {HELD_OUT}",
    "deep.adversaries": "a game of two networks has many ends, so its weights have no standard "
    "errors; sample() beside rows held out shows what it has learned",
    "discriminant": "means and covariances enter the rule together, and no error of one of them "
    f"says how sure a prediction is; {HELD_OUT}",
    "ensemble": f"a committee has no coefficients; {MATTERS}",
    "ensemble.forest": f"a forest has no coefficients; {MATTERS}",
    "ensemble.forest.isolation": f"{BAR}; another random_state shows how far the scores move",
    "ensemble.labels": "it has no coefficients of its own; the models inside may have a summary()",
    "ensemble.labels.ranker": "two pairs that share a row are not independent, which the "
    "usual errors leave out; ranking_metrics in pellucid.evaluation says how well it ranks",
    "ensemble.semi_supervised": "unlabelled rows enter its fit without an error of their own; "
    f"{HELD_OUT}",
    "ensemble.targets": "it has no coefficients of its own; the models inside may have a summary()",
    "evaluation": "it has no parameters of its own: ask the model inside for its summary()",
    "features": "it prepares columns and estimates no effect; the model that follows has errors",
    "features.selection": "it chooses columns and estimates no effect; errors of the model that "
    "follows leave the choice out: fit it on rows that chose nothing",
    "graphical": "tables of probabilities have no standard errors here; fit with a Dirichlet prior "
    "and read the counts, which say how much each row of a table rests on",
    "graphical.structure.averaging": "it weighs graphs instead of choosing one: its answers are "
    "probabilities of arrows, given the data and the prior, and have no errors",
    "graphical.structure": "arrows are chosen, not estimated; ModelAveragingStructure gives the "
    "probability of every arrow",
    "inference.covariance": "the cells of a shrunken matrix are biased on purpose; "
    "fit it again on rows drawn with replacement to see which of them stay",
    "inference": f"it decides by given or fitted densities and has no coefficients; {HELD_OUT}",
    "kernel": f"the penalty biases the function and no coefficient belongs to a column; {HELD_OUT}",
    "kernel.linear_svm": "the penalty biases the coefficients and a margin is no likelihood; "
    f"{TESTS}",
    "kernel.maximum_margin": f"the widest street hangs on a few rows and is no likelihood; {TESTS}",
    "kernel.svm.one_class": f"{BAR}; rows near it are the doubtful ones, see decision_function",
    "kernel.processes": f"the posterior speaks of the function, not of coefficients; {HELD_OUT}",
    "kernel.approximation": "it prepares columns and estimates no effect; the model that follows "
    "has errors",
    "linear": f"{SELECTED}; LinearRegression gives them where the columns were chosen beforehand",
    "linear.components": "directions are chosen from the rows, which the usual errors leave out; "
    "LinearRegression gives errors for the columns themselves",
    "linear.imputation": "it prepares columns and estimates no effect; the model that follows has "
    "errors, which take filled cells as measured",
    "linear.isotonic": "the levels are chosen by the rows they average, so their errors are "
    f"neither normal nor of the usual size; {SPREAD}",
    "linear.lars": "columns enter by what the same rows say of them, which the usual errors leave "
    "out; LinearRegression on rows that chose nothing gives them, and "
    "stability_selection in pellucid.linear the columns that stay",
    "linear.lasso": f"{SELECTED}; LinearRegression on rows that chose nothing gives them, and "
    "stability_selection in pellucid.linear the columns that stay",
    "linear.least_squares": "a 0/1 target has unequal noise and the line is no probability; "
    "LogisticRegression(C=np.inf) gives odds with errors",
    "linear.logistic": "the penalty biases the coefficients and was chosen on the same rows; "
    "LogisticRegression(C=np.inf), which has none, gives errors",
    "linear.penalties": f"{SELECTED}; LinearRegression on rows that chose nothing gives them",
    "linear.penalties.bridge": "the penalty biases the coefficients, so the usual errors do not "
    "hold; LinearRegression gives them for the columns without it",
    "linear.perceptron": "any separating plane will do, so there is no estimate to be sure of; "
    "LogisticRegression(C=np.inf) gives one with errors",
    "linear.ridge": "a target of -1 and +1 has unequal noise and the penalty biases the slopes; "
    "LogisticRegression(C=np.inf) gives odds with errors",
    "linear.robust.ransac_regressor": "rows that lie far from the plane are left out, "
    "which makes the usual errors of the rest too small; " + SPREAD,
    "linear.robust.theil_sen_regressor": "its errors are not computed here; " + SPREAD,
    "linear.robust": "its errors are not computed here; QuantileRegressor(alpha=0), as robust in "
    "y, has them",
    "linear.scaled": "ask the model inside, whose errors are in scaled units; LinearRegression "
    "gives them in the units of the columns",
    "linear.splines": "the penalty biases the curve and it has no coefficients to read; "
    "predict_interval gives a band about it, and LinearRegression on NaturalSplineBasis gives "
    "errors for a given number of knots",
    "linear.stochastic": "the last step of a stochastic descent is no exact minimum; "
    "LogisticRegression(C=np.inf) and LinearRegression give errors",
    "linear.subsets": "the columns are chosen on the same rows, which the usual errors leave out; "
    "LinearRegression on rows that chose nothing gives them",
    "mixture": "the components of a mixture may change places and its likelihood may have many "
    f"maxima; {SPREAD}",
    "mixture.outliers": f"{BAR}; rows near it are the doubtful ones, see score_samples",
    "naive_bayes": "columns are taken to be independent, which makes errors of its counts too "
    f"small to be of use; {HELD_OUT}",
    "neighbors": f"it keeps the rows and estimates no coefficient; {HELD_OUT}",
    "neighbors.editing.prototypes": "its prototypes stand for rows and estimate no truth; "
    f"{HELD_OUT}",
    "neighbors.kernel_density": "a density has no coefficients; score on rows held out says which "
    "bandwidth is better",
    "neighbors.nearest": "it finds rows and estimates nothing: there is nothing to err",
    "neighbors.nearest_centroid": "a mean of a class has an error, but none says how sure a "
    f"prediction is; {HELD_OUT}",
    "neighbors.outlier": f"{BAR}; rows near it are the doubtful ones, see negative_outlier_factor_",
    "neural.autoencoder": "a network has many equal minima, so its weights have no errors; the "
    "error of rows held out, rebuilt, says what it has learned",
    "neural": "a network has many equal minima, so its weights have no standard errors; "
    f"{HELD_OUT}",
    "reinforcement": "values of an agent depend on what it tried; learn again with other seeds and "
    "compare, as compare_agents in pellucid.reinforcement does",
    "reinforcement.planning": "the process is given, so nothing is estimated from a sample; "
    "card() says how exact the values are",
    "study": "it prepares columns and estimates no effect; the model that follows has errors",
    "tree": f"a tree has no coefficients and a small change of the rows may turn it; {MATTERS}",
}


def no_errors(module: str) -> str:
    """The sentence for a class of this module.

    >>> no_errors("pellucid.linear.robust.huber")
    'its errors are not computed here; QuantileRegressor(alpha=0), as robust in y, has them'
    """
    parts = module.split(".")[1:] if module.startswith("pellucid.") else []
    for k in range(len(parts), -1, -1):
        if ".".join(parts[:k]) in REASONS:
            return REASONS[".".join(parts[:k])]
    return REASONS[""]
