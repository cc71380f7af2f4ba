"""Pictures of calculus and linear algebra: one file each. Read ``contours.py`` first."""
