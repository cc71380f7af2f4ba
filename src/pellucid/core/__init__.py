"""Pure functions on arrays: the mathematics that every family shares."""
