"""Pictures of decision trees: one file each. Read ``tree.py`` first."""
