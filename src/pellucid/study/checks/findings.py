"""The findings a study can report: one rule per code, with its reason and its remedy.

The first digit is the stage: 1 the table, 2 the target, 3 leaks, 4 the fit, 5 the evaluation,
6 clusters. A check makes its record with ``finding``, so that title, why and fix stand here once.

PEL408 and PEL413 speak of gradient steps and of layers: a study reports them of networks, and no
candidate without layers can raise them.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pellucid.core.arrays import check
from pellucid.core.readable import readable
from pellucid.study.records import SEVERITIES, Finding

Codes = str | int | Iterable[str | int]  # of findings: "PEL101", "101" or 101, one or several


@readable
class Rule(NamedTuple):
    """When a code is reported, how grave it is, why it matters and what to do.

    >>> FINDINGS["PEL204"].severity
    'error'
    """

    severity: str  # the usual one; a check may overrule it
    title: str  # a few words
    rule: str  # when it is reported
    why: str  # why it matters
    fix: str  # what to do about it


FINDINGS: dict[str, Rule] = {
    "PEL101": Rule(
        "info",
        "Missing values",
        "A column has missing cells; a warning when more than half of them are.",
        "Models need a number in every cell, and that a cell is missing may itself say something.",
        "They are filled with the median and marked, or become a level of their own. Above half, "
        "ask why they are missing, or drop the column.",
    ),
    "PEL102": Rule(
        "warning",
        "Constant or empty column",
        "A column holds the same value in every cell, or nothing at all.",
        "What never varies cannot tell rows apart.",
        "It is left out. If it should vary, look at how the table was made.",
    ),
    "PEL103": Rule(
        "info",
        "Nearly constant column",
        "One value fills more than 99.5 % of the cells.",
        "The few other rows can hardly be learned from, and a fold may not hold one of them.",
        "Drop it, unless the rare value is what matters.",
    ),
    "PEL104": Rule(
        "info",
        "Duplicate rows",
        "Rows that repeat another row in every column (identifiers apart); a warning when they are "
        "at least 1 % of the rows and more than such coarse values would repeat by chance.",
        "A row that is in both parts of a split is predicted from memory, and a repeated row "
        "counts double.",
        "Remove them if they are an accident.",
    ),
    "PEL105": Rule(
        "warning",
        "Identifier",
        "Single words of text of which more than 95 % are different and which are no dates; or "
        "whole numbers, all different, that rise from row to row or lie within twice the number "
        "of rows.",
        "A name for a row says nothing about the next row; a model can only learn it by heart.",
        "It is left out. Name it under keep if it is a measurement.",
    ),
    "PEL106": Rule(
        "info",
        "Many levels",
        "A category has more than 50 levels.",
        "One column per level makes a wide matrix in which most levels have few rows.",
        "Rare levels are pooled, and above 30 levels the level is coded by the target, out of "
        "fold. Coarser levels may do better.",
    ),
    "PEL107": Rule(
        "warning",
        "Exactly collinear columns",
        "A numeric column is an exact linear combination of others.",
        "It adds nothing, and coefficients without a penalty are not determined.",
        "Drop one column of each relation.",
    ),
    "PEL108": Rule(
        "warning",
        "Strongly correlated columns",
        "The condition number of the standardised numeric columns is above 30, or a variance "
        "inflation factor above 10.",
        "Predictions are hardly hurt, but coefficients have large standard errors and share their "
        "effect among the columns.",
        "Do not read single coefficients; to read them, combine the columns into one.",
    ),
    "PEL109": Rule(
        "info",
        "Very different scales",
        "The largest standard deviation is more than 1000 times the smallest.",
        "Gradient descent, k-means and nearest neighbours see only the widest column.",
        "Standardise; the study does where a model needs it.",
    ),
    "PEL110": Rule(
        "warning",
        "As many columns as rows",
        "There are at least as many input columns as rows.",
        "An unpenalised linear model fits every row exactly, whatever the target.",
        "Collect more rows, or leave out columns that cannot matter. Use penalised models, or "
        "select columns inside the folds.",
    ),
    "PEL111": Rule(
        "info",
        "Few rows for the columns",
        "There are fewer than ten rows per input column.",
        "Estimates vary much from sample to sample, and flexible models overfit.",
        "Prefer simple, penalised models; fewer columns or more rows.",
    ),
    "PEL112": Rule(
        "info",
        "Outliers or sentinels",
        "Cells lie more than 6 robust standard deviations from the median (on the log scale too, "
        "where all are positive; more than 1 % of the cells only if a gap sets them apart), or a "
        "code such as -999 or 9999 stands apart from all other values (a warning).",
        "A code for 'not known' is read as a huge number, and one wild cell can turn a line.",
        "Replace codes by missing cells; look at the other cells and keep them if they are true.",
    ),
    "PEL113": Rule(
        "warning",
        "Numbers and text in one column",
        "At least half of the filled cells of a text column are numbers (or 95 % are dates), but "
        "not all; or the others are marks: a dash, n.a., one word that comes back; or they "
        "are numbers in several units.",
        "Marks beside quantities or dates count as missing, and so do other cells where 90 % are "
        "numbers. Else, and with several units, the column is read as text, and the size of its "
        "numbers is lost.",
        "Correct the cells shown (rows are counted from 0, without the header), or leave them "
        "empty.",
    ),
    "PEL114": Rule(
        "info",
        "Date column",
        "A column holds dates or times (or years, or seconds since 1970, that rise from row to "
        "row).",
        "If the future is to be predicted, learning must not see it: a random split lets it.",
        "When it is the only one whose order the rows have, the split is sequential. Otherwise "
        "name the column as time if new rows will be later than these.",
    ),
    "PEL115": Rule(
        "info",
        "Neighbours are far",
        "A cube that holds 1 % of evenly spread rows has an edge above half the range: "
        "0.01^(1/p) > 0.5.",
        "With that many columns the nearest rows are not near: local methods are not local.",
        "Trust nearest neighbours and kernels less, or reduce the columns first.",
    ),
    "PEL116": Rule(
        "info",
        "Numbers read from text",
        "The cells of a column are numbers as people write them: thousands, currency, percent, "
        "units; a warning when no cell shows whether 1,018 is 1018 or 1.018.",
        "The sign, currency or unit is taken off and never changes the number: 47.1% is 47.1.",
        "If the form shown is wrong, write plain numbers such as 1234.5.",
    ),
    "PEL117": Rule(
        "warning",
        "Levels that differ in case or blanks only",
        "Two levels of a column of text, or two classes, are equal once capitals are small and "
        "blanks at the ends are gone.",
        "To a model they are different things: a class is split, and its parts are told apart "
        "by chance.",
        "If they mean the same, write them in one way.",
    ),
    "PEL201": Rule(
        "info",
        "Missing targets",
        "Rows have no target; a warning when they are more than half.",
        "They can neither teach nor judge a supervised model.",
        "They are set aside; with more than half missing, semi-supervised models can use them.",
    ),
    "PEL202": Rule(
        "warning",
        "Rare class",
        "The smallest class has less than 20 % of the rows (with more than two classes: less than "
        "two fifths of an even share).",
        "A model can be right about most rows and never find this class.",
        "Look at recall per class; --metric balanced_accuracy counts every class alike, and the "
        "labels then follow it.",
    ),
    "PEL203": Rule(
        "warning",
        "Class with few rows",
        "A class has fewer than 5 rows.",
        "So few rows can neither teach the class nor judge how well it is found.",
        "Collect more, merge it with a similar class, or leave it out.",
    ),
    "PEL204": Rule(
        "error",
        "Target does not vary",
        "The target has one class or one value only.",
        "There is nothing to tell apart.",
        "Choose another target, or rows in which it varies.",
    ),
    "PEL205": Rule(
        "error",
        "Target looks like an identifier",
        "More than 95 % of the targets are different texts, or they are running whole numbers.",
        "A name of the row cannot be predicted from the row.",
        "Choose the column that answers the question.",
    ),
    "PEL206": Rule(
        "info",
        "Skewed target",
        "The skewness of the target is above 2 in size.",
        "A few large values dominate the squared error.",
        "Judge by the absolute error (--metric mae) if one large miss is no worse than several "
        "small ones; predict the logarithm if all targets are positive.",
    ),
    "PEL207": Rule(
        "info",
        "Ambiguous task",
        "The target allows more than one task, such as whole numbers from 3 to 10 values.",
        "Classes have no order, numbers have; the measure and the models differ.",
        "Say which it is with task=.",
    ),
    "PEL208": Rule(
        "info",
        "Equal rows, different targets",
        "Training rows agree in every input but not in the target; a warning when this costs at "
        "least 5 % of the rows, or of the variance.",
        "No model can be right for all of them: it is a floor of the training error.",
        "Look for an input that tells them apart, or for mistakes in the labels.",
    ),
    "PEL301": Rule(
        "error",
        "One column gives the target away",
        "One column alone ranks the training rows with AUC >= 0.995 (one against the rest, mean "
        "over the classes; levels coded out of fold) or |Spearman| >= 0.999. Or it is filled in "
        "rows of one class only, cuts a numeric target into intervals, or is a text that names it.",
        "Such a column is usually a copy of the target, or was filled in after it was known.",
        "It is left out. Name it under keep if it will be known when predictions are made. One "
        "measurement that may be honest (a class begins at a threshold of it, a number lies on a "
        "line with some noise) is kept, and the folds judge it.",
    ),
    "PEL302": Rule(
        "error",
        "Target is a sum of columns",
        "The target is an exact linear combination of numeric columns, R^2 > 1 - 1e-8.",
        "The answer is arithmetic, not learning: the columns are parts of the target.",
        "They are left out. Name them under keep if they will be known beforehand.",
    ),
    "PEL303": Rule(
        "info",
        "Copies of rows and the split",
        "Rows drawn for the test had an equal row among the training rows; a warning where a "
        "fifth of the rows all but repeat another in their numbers.",
        "A test row that was trained on is predicted from memory.",
        "Copies were put on one side of the split.",
    ),
    "PEL304": Rule(
        "warning",
        "Random split of ordered or grouped rows",
        "Rows were split at random though a column looks like time or like groups, or whole "
        "numbers that return rise from row to row (a note).",
        "If new rows are later, or belong to new groups, the score is too good.",
        "Name the column as time or groups in the plan, or be sure that new rows mix as these do.",
    ),
    "PEL305": Rule(
        "warning",
        "Test rows used again",
        "The test rows judged more than one model.",
        "Choosing by the test makes its score optimistic.",
        "Hold back fresh rows for the final score.",
    ),
    "PEL306": Rule(
        "warning",
        "Many candidates for few validation rows",
        "The bound sqrt(ln(F / delta) / (2 n)) on how far a validation share can be off, over all "
        "F candidates at once, is above 0.1.",
        "The best of many candidates looks better than it is.",
        "Compare fewer candidates or validate on more rows; believe the test score.",
    ),
    "PEL307": Rule(
        "error",
        "Too good to be true",
        "The score in the folds is near perfect (a tenth of guessing's errors, R^2 >= 0.98; or one "
        "column ranks the classes with AUC >= 0.995), a few columns, or rows that should stay "
        "together, explain nearly all of it, and without them it falls apart. One measurement "
        "that is no copy by its looks counts only where the other columns predict too, usefully "
        "and beyond luck.",
        "What explains the score may not be known when predictions are made.",
        "Drop the columns, or name the groups. Name the columns under keep if they will be known.",
    ),
    "PEL308": Rule(
        "warning",
        "Groups found",
        "The levels of a column own their rows: other columns hardly change within them, or every "
        "level has one row per occasion. Nobody named it, and the split keeps its rows together.",
        "Rows of one person or machine are alike; judged by its other rows, a model only knows "
        "it again.",
        "If new rows will be of the same groups, name the column as known_groups in the plan "
        "(--known-groups).",
    ),
    "PEL309": Rule(
        "warning",
        "A column carries the score",
        "The score in the folds is strong (a quarter of guessing's errors, R^2 >= 0.94, AUC >= "
        "0.95), a few columns say nearly all of it by themselves, and without them it falls apart; "
        "or it is near perfect by one measurement beside columns that say nothing.",
        "If they are not known when predictions are made, the model is worth what is left.",
        "Check when they become known. Drop them if late, or name them under keep.",
    ),
    "PEL310": Rule(
        "warning",
        "Neighbouring rows are alike",
        "Rows next to each other in the file are alike in the target and in other columns though "
        "nothing named or found orders or groups them, and where whole stretches of rows are kept "
        "apart the gain over guessing is not certain, or certainly smaller. An error when most of "
        "it is gone there, or is as large with the target moved along the file.",
        "A random split puts neighbours on both sides, and a model then knows a row by its "
        "neighbours.",
        "If rows belong to people, machines, batches or moments, name the column that says so as "
        'groups or as time. If new rows will stand among these, say groups="none".',
    ),
    "PEL311": Rule(
        "error",
        "Target is the difference of two dates",
        "In 99 of 100 rows the target is the time between two dates, in some unit and up to a "
        "constant and rounding; a count from 1970, or a whole year, may stand for a date.",
        "The answer is arithmetic, not learning, whether a model finds it or not.",
        "Drop the later date, or both. Name them under keep if they will be known beforehand.",
    ),
    "PEL401": Rule(
        "warning",
        "Underfit",
        "A richer model does significantly better on held-out rows.",
        "The model class cannot follow the relation.",
        "Add basis functions or interactions, weaken the penalty, or take the richer model.",
    ),
    "PEL402": Rule(
        "warning",
        "Overfit",
        "The training score is significantly, and by more than a tenth of the gain over guessing, "
        "above the held-out score.",
        "The model has learned part of the noise.",
        "Its settings were tuned on rows held out already; fewer columns or more rows would close "
        "the gap.",
    ),
    "PEL403": Rule(
        "info",
        "A linear model suffices",
        "No richer model is significantly better than the linear one.",
        "The simpler model is easier to explain, check and keep.",
        "Nothing: it is the model that was chosen.",
    ),
    "PEL404": Rule(
        "warning",
        "Separable classes",
        "A hyperplane separates the training classes without error.",
        "Without a penalty the coefficients of logistic regression grow without bound.",
        "Keep a penalty; do not read standard errors.",
    ),
    "PEL405": Rule(
        "warning",
        "No useful gain over the yardstick",
        "The interval of the gain on the rows set aside lies below a useful gain.",
        "What the model adds to the yardstick is too little to be of use, if anything.",
        "Find other inputs; more rows of this kind will not change that.",
    ),
    "PEL406": Rule(
        "warning",
        "Constant predictions",
        "A model predicts the same for every row.",
        "What it has learned from the inputs does not reach its answers.",
        "Look for inputs that say more about the target, or collect more rows.",
    ),
    "PEL407": Rule(
        "warning",
        "Not converged",
        "The solver stopped at its limit of iterations.",
        "The model is not the one that the objective defines.",
        "Allow more iterations, scale the inputs, or loosen the tolerance knowingly.",
    ),
    "PEL408": Rule(
        "warning",
        "Step too large",
        "The step of a network exceeds 2 (1 + momentum) / lambda_max of the Hessian; with adam, "
        "whose steps scale themselves, the loss ends a tenth above its lowest value.",
        "Gradient descent then moves away from the minimum.",
        "Lower the step size, or scale the inputs.",
    ),
    "PEL409": Rule(
        "warning",
        "Curved residuals",
        "The residuals of the linear model bend with the fitted values.",
        "The relation is not linear.",
        "Add powers, splines or interactions; or predict a transformed target.",
    ),
    "PEL410": Rule(
        "info",
        "Input not informative",
        "Shuffling a column does not make the score worse on average.",
        "The model makes no use of it here; where columns go together another may stand in for it.",
        "Nothing; if it costs something to collect, study the table without it and compare.",
    ),
    "PEL411": Rule(
        "warning",
        "One row moves the fit",
        "A row has Cook's distance above 1.",
        "The conclusions rest on a single row.",
        "Look at the row (rows are counted from 0, without the header); compare the fit without "
        "it, or use a robust loss.",
    ),
    "PEL412": Rule(
        "warning",
        "A class is never predicted",
        "A class occurs in the truth but not in the predictions.",
        "It is masked by its neighbours, or too rare: another class is likelier in every row.",
        "Read its probabilities, or learn with --metric balanced_accuracy, which counts every "
        "class alike.",
    ),
    "PEL413": Rule(
        "warning",
        "Vanishing gradients",
        "The gradients of the first layers are many times smaller than those of the last.",
        "Those layers do not learn.",
        "Use ReLU units, a suitable start, normalisation or fewer layers.",
    ),
    "PEL414": Rule(
        "info",
        "Zero counts",
        "A level never occurs together with a class in training.",
        "Its estimated probability would be zero and forbid the class.",
        "Counts are smoothed; check that the smoothing is sensible.",
    ),
    "PEL415": Rule(
        "warning",
        "Singular class covariance",
        "A class has no more rows than columns; a warning where a model failed by it.",
        "Its covariance matrix cannot be inverted.",
        "Share or shrink the covariance matrices, or reduce the columns.",
    ),
    "PEL416": Rule(
        "info",
        "Overdispersed counts",
        "The counts spread more around the means of a Poisson regression than Poisson counts do "
        "(score test, p < 0.01); the dispersion is their variance over the mean.",
        "The means of a Poisson regression stay right, but its standard errors and intervals are "
        "too small by the root of the dispersion.",
        "Read the errors of a negative binomial regression, whose variance is m + alpha m^2.",
    ),
    "PEL417": Rule(
        "info",
        "Spread grows with size",
        "All targets are positive, and the logarithm of a miss rises with that of the size by at "
        "least a half (three standard errors above 0): 1 is a spread in shares of the size.",
        "A typical miss in units of the target says little about small and about large ones, and "
        "the large ones decide the squared error.",
        "Gamma regression and models on the log scale were added. To judge in shares of the size, "
        "choose the metric gamma_deviance.",
    ),
    "PEL501": Rule(
        "info",
        "Best models not distinguishable",
        "Several models are not significantly worse than the best.",
        "Their order could turn on another sample.",
        "Any of them will do: the choice may be by cost, speed or how easily it is read.",
    ),
    "PEL502": Rule(
        "warning",
        "Miscalibrated probabilities",
        "The expected calibration error exceeds 0.05 and lies outside its band.",
        "A stated 80 % does not happen eight times in ten.",
        "Use them to order rows, not as shares: on the rows set aside they are off, although they "
        "were calibrated on the learning rows where that helped.",
    ),
    "PEL503": Rule(
        "info",
        "Threshold moved",
        "The decision threshold is not 0.5, because costs or the measure ask for another.",
        "Decisions differ from the likelier class.",
        "State the threshold wherever the model is used.",
    ),
    "PEL504": Rule(
        "warning",
        "Scores vary from fold to fold",
        "The standard error over the folds is above 10 % of the mean.",
        "The estimate depends on which rows were held out.",
        "Use more rows; look for groups or for a change over time.",
    ),
    "PEL505": Rule(
        "warning",
        "Test score outside the expected interval",
        "The test score lies outside the interval of cross-validation.",
        "Chance, a change between the parts, or a choice that fitted the folds too well.",
        "Compare the parts; believe the worse of the two.",
    ),
    "PEL506": Rule(
        "warning",
        "A class is mostly missed",
        "The recall of a class is below 0.5.",
        "More of its rows are missed than found.",
        "Find inputs that mark it, or learn with --metric balanced_accuracy, which counts every "
        "class alike.",
    ),
    "PEL507": Rule(
        "warning",
        "Rows outside the training range",
        "Rows to be predicted lie outside the range of the training rows, or hold unseen levels.",
        "There the model extrapolates.",
        "Do not rely on these predictions; train on such rows.",
    ),
    "PEL601": Rule(
        "info",
        "No elbow",
        "The within-cluster error falls smoothly with the number of clusters.",
        "The data do not call for a particular number.",
        "Choose the number by its use, or doubt that there are clusters.",
    ),
    "PEL602": Rule(
        "info",
        "Several elbows",
        "The within-cluster error bends more than once.",
        "There may be clusters within clusters.",
        "Look at the hierarchy and at each level.",
    ),
    "PEL603": Rule(
        "info",
        "Criteria disagree",
        "Silhouette, Calinski-Harabasz and elbow prefer different numbers of clusters.",
        "Each rewards another shape of cluster.",
        "Compare the candidates on what they mean.",
    ),
    "PEL604": Rule(
        "warning",
        "Unstable clusters",
        "Restarts or resamples give different partitions.",
        "The clusters are an accident of the start.",
        "More restarts, fewer clusters, other features.",
    ),
    "PEL605": Rule(
        "warning",
        "Empty or tiny cluster",
        "A cluster holds almost no rows.",
        "It often stands for outliers.",
        "Look at its rows; try fewer clusters.",
    ),
    "PEL606": Rule(
        "info",
        "Scaling changes the clusters",
        "The partition differs with and without standardising.",
        "Distances depend on units.",
        "Decide which units are comparable, and standardise the rest.",
    ),
}


def finding(
    code: str, where: str | Iterable[str] = (), *, severity: str | None = None, **evidence: object
) -> Finding:
    """A finding of this code about these columns, models or classes, with its numbers.

    Parameters
    ----------
    code : str
        One of ``FINDINGS``.
    where : str or iterable of str
        The columns, models or classes concerned.
    severity : {"info", "warning", "error"}, optional
        The usual one of the code by default.
    **evidence : anything that JSON can hold
        The numbers behind it.

    Examples
    --------
    >>> from pellucid.study import finding
    >>> finding("PEL204", "y", value=1).title
    'Target does not vary'
    """
    known_code(code)
    rule = FINDINGS[code]
    severity = rule.severity if severity is None else severity
    check.one_of(SEVERITIES, severity=severity)
    names = (where,) if isinstance(where, str) else tuple(where)
    return Finding(code, severity, rule.title, names, evidence, rule.why, rule.fix)


def known_code(code: str) -> None:
    """Refuse a code that is not in the table."""
    if code not in FINDINGS:
        near = check.hint(code, FINDINGS)
        raise ValueError(f"a code of a finding is such as 'PEL101', got {code!r}{near}")


def code_set(ignore: Codes) -> frozenset[str]:
    """Codes to leave unsaid, written ``PEL101``, ``"101"`` or ``101``.

    >>> sorted(code_set([101, "pel204"]))
    ['PEL101', 'PEL204']
    """
    items = [ignore] if isinstance(ignore, str | int) else list(ignore)
    codes = [str(item).upper() for item in items]
    codes = [code if code.startswith("PEL") else f"PEL{code}" for code in codes]
    for code in codes:
        known_code(code)
    return frozenset(codes)


def sorted_findings(found: Sequence[Finding], ignore: frozenset[str]) -> tuple[Finding, ...]:
    """Without the ignored ones; errors first, then warnings, each by code."""
    kept = [item for item in found if item.code not in ignore]
    return tuple(sorted(kept, key=lambda f: (-SEVERITIES.index(f.severity), f.code)))
