"""Pictures of Bayesian networks: one file each. Read ``network_graph.py`` first."""
