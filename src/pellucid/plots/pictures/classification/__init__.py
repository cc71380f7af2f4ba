"""Pictures of classifiers: one file each. Read ``boundary.py`` first."""
