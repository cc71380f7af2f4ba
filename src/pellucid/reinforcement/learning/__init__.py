"""TODO src/pellucid/reinforcement/learning."""
