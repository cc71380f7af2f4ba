"""TODO src/pellucid/reinforcement/worlds."""
