"""Pictures of what a model looks at: one file each. Read ``importance.py`` first."""
