"""Pictures of mixture models and anomalies: one file each. Read ``mixture_contours.py`` first."""
