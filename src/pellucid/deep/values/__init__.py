"""Networks for action values, used by ``reinforcement``. Start with ``q_network.py``."""
