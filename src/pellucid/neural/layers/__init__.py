"""TODO src/pellucid/neural/layers."""
