"""Pictures of clustering: one file each. Read ``clusters.py`` first."""
