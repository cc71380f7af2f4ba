"""Pictures of reinforcement learning: one file each. Read ``values.py`` first."""
