"""TODO src/pellucid/evaluation/calibration."""
