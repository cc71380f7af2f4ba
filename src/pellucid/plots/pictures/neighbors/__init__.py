"""Pictures of nearest neighbours: one file each. Read ``neighbour_query.py`` first."""
