"""How many labels a network gets right, counted while the outputs of a batch are at hand."""

from pellucid.core.runtime.jit import jit


@jit
def weight_right(outputs, targets, w, halves):
    """Added weights of the rows with the right label.

    ``halves``: every output is on the same side of a half as its 0/1 target. Otherwise: the first
    largest output is that of the class.
    """
    total = 0.0
    for i in range(len(outputs)):
        right, best = True, 0
        for j in range(outputs.shape[1]):
            if halves:
                right = right and (outputs[i, j] > 0.5) == (targets[i, j] > 0.5)
            elif outputs[i, j] > outputs[i, best]:
                best = j
        if halves:
            total += w[i] if right else 0.0
        elif targets[i, best] > 0.5:
            total += w[i]
    return total
