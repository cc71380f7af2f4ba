"""TODO src/pellucid/ensemble/committees."""
