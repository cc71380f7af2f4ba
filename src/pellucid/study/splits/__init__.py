"""Which rows teach and which rows judge: see ``split``."""
