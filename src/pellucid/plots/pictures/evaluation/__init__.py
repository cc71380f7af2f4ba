"""Pictures of scores, curves, folds and costs: one file each. Read ``roc.py`` first."""
