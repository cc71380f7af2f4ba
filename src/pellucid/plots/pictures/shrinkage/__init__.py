"""Pictures of penalties and column selection: one file each. Read ``coefficient_path.py`` first."""
