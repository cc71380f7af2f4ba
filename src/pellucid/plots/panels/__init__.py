"""TODO src/pellucid/plots/panels."""
