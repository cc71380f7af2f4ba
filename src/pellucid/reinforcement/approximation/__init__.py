"""TODO src/pellucid/reinforcement/approximation."""
