"""TODO src/pellucid/study/splits."""
