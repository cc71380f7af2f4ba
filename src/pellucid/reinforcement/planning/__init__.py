"""TODO src/pellucid/reinforcement/planning."""
