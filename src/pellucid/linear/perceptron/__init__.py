"""TODO src/pellucid/linear/perceptron."""
