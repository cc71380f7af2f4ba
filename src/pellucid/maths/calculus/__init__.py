"""TODO src/pellucid/maths/calculus."""
