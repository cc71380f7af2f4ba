"""Learning from few labelled and many unlabelled rows.

Read ``self_training.py`` first: a classifier that labels the rows it is sure about.
``representation.py`` learns features from all rows and the classifier from the labelled ones.
"""
