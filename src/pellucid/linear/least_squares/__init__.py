"""TODO src/pellucid/linear/least_squares."""
