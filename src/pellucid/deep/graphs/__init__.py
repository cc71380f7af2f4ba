"""Networks on graphs. Start with ``messages.py``, then ``graph_network.py``."""
