"""scikit-learn's splitters, where users of evaluation look for them; nothing is rewritten."""

from sklearn import model_selection

train_test_split = model_selection.train_test_split
TimeSeriesSplit = model_selection.TimeSeriesSplit
