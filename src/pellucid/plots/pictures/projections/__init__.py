"""Pictures of principal components and other projections. Read ``scores.py`` first."""
