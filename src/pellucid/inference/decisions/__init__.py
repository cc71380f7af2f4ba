"""From probabilities to decisions: losses, Bayes rules and the least possible error.

Start with ``decisions.py``; ``losses.py`` defines the losses, ``bayes_classifier.py`` uses them.
"""
