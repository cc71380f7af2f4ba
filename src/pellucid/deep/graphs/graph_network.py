r"""Graph neural network: classes of graphs, or of the nodes of one graph.

Model        H_0 = features;  H_k = relu(M H_(k-1) W_k + b_k)             gcn
             H_k = relu(M H_(k-1) W_k + H_(k-1) V_k + b_k)                mean, sum
             M as in ``messages``; a readout over the nodes and a linear head, or the head per node
Evaluation   cross-entropy of the graphs, or of the nodes whose label is known

After k stages a node knows what is within k edges of it. The answer does not depend on the order
of the nodes. References: Kipf & Welling (2017); Gilmer et al. (2017).
"""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.base import encode_labels
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Seed
from pellucid.deep.convolution.convolutional import check_sizes
from pellucid.deep.graphs.messages import AGGREGATIONS, Graph, read_graph
from pellucid.deep.learner import DeepClassifier, same_length
from pellucid.deep.model import Inputs
from pellucid.deep.training import Training

READOUTS = ("mean", "sum", "max")


def place_graphs(graphs: list[Graph]) -> Inputs:
    """Graphs as padded arrays: features, start, end and weight of edges, sizes."""
    n, sizes = len(graphs), np.array([len(g.features) for g in graphs], dtype=np.intp)
    edges = max(1, max(g.messages.nnz for g in graphs))
    features = np.zeros((n, sizes.max(), graphs[0].features.shape[1]))
    start, end = np.zeros((n, edges), dtype=np.intp), np.zeros((n, edges), dtype=np.intp)
    weight = np.zeros((n, edges))
    for i, (M, H) in enumerate(graphs):
        features[i, : len(H)] = H
        start[i, : M.nnz], end[i, : M.nnz], weight[i, : M.nnz] = M.col, M.row, M.data
    return features, start, end, weight, sizes


class GraphNeuralNetworkClassifier(DeepClassifier):
    """Classes of graphs, or of nodes.

    Parameters
    ----------
    hidden : tuple of int, default=(32, 32)
        Units of each stage; as many stages as edges to look across.
    aggregation : {"gcn", "mean", "sum"}, default="gcn"
        As in ``message_pass``.
    readout : {"mean", "sum", "max"} or None, default="mean"
        How nodes become one graph; None: classify the nodes of one graph.
    training : Training or None, default=None
        None: ``Training()``.
    random_state : None, int, RandomState or Generator
        Seed of the random numbers.

    A graph is ``(adjacency, node_features)``. ``fit`` takes a list of graphs and their labels or,
    with ``readout=None``, one graph and the labels of its nodes, -1 where unknown.

    Attributes
    ----------
    classes_, module_, weights_, history_, n_iter_, best_iter_, objective_

    Examples
    --------
    >>> from pellucid.deep import GraphNeuralNetworkClassifier, Training
    >>> ring, star = np.zeros((4, 4)), np.zeros((4, 4))
    >>> ring[[0, 1, 2, 3], [1, 2, 3, 0]] = ring[[1, 2, 3, 0], [0, 1, 2, 3]] = 1
    >>> star[0, 1:] = star[1:, 0] = 1
    >>> graphs = [(ring, np.ones(4)), (star, np.ones(4))] * 10
    >>> fast = Training(learning_rate=0.02)
    >>> model = GraphNeuralNetworkClassifier(training=fast, random_state=0)
    >>> model.fit(graphs, ["ring", "star"] * 10).predict(graphs[:2])
    array(['ring', 'star'], dtype='<U4')
    """

    _shape_names = ("_width",)

    def __init__(
        self,
        hidden: tuple[int, ...] = (32, 32),
        *,
        aggregation: str = "gcn",
        readout: str | None = "mean",
        training: Training | None = None,
        random_state: Seed = None,
    ) -> None:
        self.hidden = hidden
        self.aggregation = aggregation
        self.readout = readout
        self.training = training
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        return tags

    def _check_parameters(self) -> None:
        check_sizes(hidden=self.hidden)
        check.one_of(AGGREGATIONS, aggregation=self.aggregation)
        if self.readout is not None:
            check.one_of(READOUTS, readout=self.readout)

    def _read(self, X: Any, *, reset: bool) -> Inputs:
        if self.readout is None:
            graphs = [read_graph(X, self.aggregation)]
        else:
            if not isinstance(X, list | tuple | np.ndarray) or not len(X):
                raise ValueError("X must be a list of graphs (adjacency, node_features), not empty")
            graphs = [read_graph(g, self.aggregation, f"graph {i}") for i, g in enumerate(X)]
        if reset:
            self._width = graphs[0].features.shape[1]
        for i, graph in enumerate(graphs):
            if graph.features.shape[1] != self._width:
                raise ValueError(
                    f"graph {i} has {graph.features.shape[1]} features per node, "
                    f"{self._width} are expected"
                )
        return place_graphs(graphs)

    def _targets(self, y: np.ndarray, inputs: Inputs) -> Any:
        if self.readout is not None:
            return super()._targets(y, inputs)
        known, y = self._known(y, inputs)
        codes = np.full(len(known), -1, dtype=np.intp)
        self.classes_, codes[known] = encode_labels(y)
        return codes[None, :]

    def _held_targets(self, y: Any, inputs: Inputs) -> Any:
        if self.readout is not None:
            return super()._held_targets(y, inputs)
        known, y = self._known(y, inputs)
        codes = np.full(len(known), -1, dtype=np.intp)
        codes[known] = self._codes_of(y)
        return codes[None, :]

    @staticmethod
    def _known(y: ArrayLike, inputs: Inputs) -> tuple[Any, Any]:
        """Which nodes have a label, and these labels."""
        if y is None:
            raise ValueError("the classifier requires y to be passed, but the target y is None")
        y = np.asarray(y)
        same_length(inputs[0].shape[1], len(y))
        known = np.array([not (label is None or label in (-1, "-1")) for label in y.tolist()])
        if not known.any():
            raise ValueError("no node has a label: at least one class is needed")
        labels = y[known]
        return known, np.array(labels.tolist()) if labels.dtype == object else labels

    def _build(self) -> Any:
        from pellucid.deep.graphs.graph_module import GraphModule

        return GraphModule(
            self._width, tuple(self.hidden), self.aggregation, self.readout, self._outputs
        )

    def _steps(self, inputs: Inputs) -> int:
        return inputs[0].shape[1]

    def predict_proba(self, X: Any) -> Array:
        """Probabilities of the classes, of each graph or each node."""
        found = super().predict_proba(X)
        return found[0] if self.readout is None else found

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy; of nodes, where their label is known."""
        if self.readout is not None:
            return super().score(X, y, sample_weight)
        found = self.predict(X)
        known, labels = self._known(y, (found[None, :, None],))
        return float(np.mean(found[known] == labels))

    def node_embeddings(self, graph: Any) -> Array:
        """The features of the nodes of one graph after the last stage, (nodes, units)."""
        check_is_fitted(self)
        inputs = self._read(graph if self.readout is None else [graph], reset=False)
        return self._forward(inputs, "embed")[0]

    def _describe(self) -> str:
        last = "a linear head per node" if self.readout is None else f"{self.readout} over nodes"
        return (
            f"graph network of stages {tuple(self.hidden)} over {self._width} feature(s) per node, "
            f"{self.aggregation} messages; {last}"
        )
