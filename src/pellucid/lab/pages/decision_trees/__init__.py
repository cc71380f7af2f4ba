"""TODO src/pellucid/lab/pages/decision_trees."""
