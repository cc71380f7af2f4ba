"""Pictures of neural networks: one file each. Read ``network.py`` first."""
