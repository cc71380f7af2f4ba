"""TODO src/pellucid/lab/pages/least_squares."""
