"""Pictures of bagging, boosting and voting: one file each. Read ``diversity.py`` first."""
