"""TODO src/pellucid/linear/subsets."""
