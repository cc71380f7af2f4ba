"""TODO src/pellucid/core/algebra."""
