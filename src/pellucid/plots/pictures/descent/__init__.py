"""Pictures of gradient descent and its relatives: one file each. Read ``descent_path.py`` first."""
