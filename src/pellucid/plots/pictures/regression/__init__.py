"""Pictures of regression fits: one file each. Read ``regression_fit.py`` first."""
