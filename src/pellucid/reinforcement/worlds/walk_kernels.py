"""Walking through a Markov decision process, one compiled loop per episode."""

from pellucid.core.runtime.jit import jit


@jit
def walk(
    indptr, indices, probability, reward, terminal, chances, s, uniform, states, actions, paid
):
    """Fill ``states``, ``actions``, ``paid`` from state s on; returns the number of moves.

    Row s A + a of (indptr, indices, probability, reward) are the outcomes of action a in state s;
    ``chances`` (S, A) is the policy; two uniform numbers per move are its chance.
    """
    A = chances.shape[1]
    states[0] = s
    for t in range(len(uniform)):
        if terminal[s]:
            return t
        u, a = uniform[t, 0], 0
        for b in range(A):  # the last action with any chance takes what rounding leaves over
            if chances[s, b] > 0.0:
                a = b
                if u < chances[s, b]:
                    break
                u -= chances[s, b]
        v, k = uniform[t, 1], indptr[s * A + a]
        for j in range(k, indptr[s * A + a + 1]):
            k = j
            if v < probability[j]:
                break
            v -= probability[j]
        actions[t], paid[t] = a, reward[k]
        s = indices[k]
        states[t + 1] = s
    return len(uniform)
