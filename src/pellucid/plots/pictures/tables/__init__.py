"""Pictures of data tables: one file each. Read ``profile.py`` first."""
