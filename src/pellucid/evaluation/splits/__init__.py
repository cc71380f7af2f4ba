"""TODO src/pellucid/evaluation/splits."""
