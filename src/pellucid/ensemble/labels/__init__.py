"""Classifiers made of classifiers: several classes, several labels, rankings.

Read ``one_vs_rest.py`` first; ``one_vs_one.py`` and ``one_vs_reference.py`` pair the classes
otherwise. ``multi_output.py``, ``chain.py`` and ``powerset.py`` predict several labels per row,
``ranker.py`` ranks, ``cut_point.py`` moves the threshold of a score. ``meta_classifier.py`` and
``label_matrix.py`` hold what they share.
"""
