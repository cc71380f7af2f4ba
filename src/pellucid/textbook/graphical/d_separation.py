r"""d-separation: which independencies a graph proves.

Define      a path from a to b is blocked by Z if a node on it that is not head-to-head is in Z, or
            a head-to-head node (-> v <-) is neither in Z nor has a descendant in Z
Solve       are all paths from a to b blocked?
Step        walk along open paths only. What matters at v is how it was entered: from a child one
            may go on anywhere if v is not in Z; from a parent to children if v is not in Z, and
            back to parents if v or a descendant is in Z (the effect is seen,
            so its causes compete).
Cost        nodes plus arrows.
The fast version also shows an open path, and lists all independencies.
"""


def above(parents: list[list[int]], nodes: set[int]) -> set[int]:
    """The nodes and all their ancestors."""
    found, queue = set(nodes), list(nodes)
    while queue:
        for p in parents[queue.pop()]:
            if p not in found:
                found.add(p)
                queue.append(p)
    return found


def d_separation(parents: list[list[int]], a: int, b: int, Z: set[int]) -> bool:
    """Whether Z blocks every path from a to b."""
    children = [[c for c in range(len(parents)) if v in parents[c]] for v in range(len(parents))]
    opened = above(parents, Z)  # head-to-head nodes that let a path through
    queue, seen = [(a, "child")], set()
    while queue:
        v, came_from = queue.pop()
        if (v, came_from) in seen:
            continue
        seen.add((v, came_from))
        if v == b:
            return False
        if v not in Z:
            queue += [(c, "parent") for c in children[v]]
        if (came_from == "child" and v not in Z) or (came_from == "parent" and v in opened):
            queue += [(p, "child") for p in parents[v]]
    return True
