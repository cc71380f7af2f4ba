"""Commands of the course; ``teach`` writes and grades exercise sheets."""
