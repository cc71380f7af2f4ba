"""Deep models against the same network in a plain PyTorch loop and in skorch.

Every contender trains the same architecture with Adam, the same batches and epochs, in float32 on
the CPU; what it returns is its accuracy (or error) on rows kept aside, which must be as good.
"""

import numpy as np

from benchmarks.harness import Case

EPOCHS, BATCH, RATE = 5, 64, 1e-3
NOTE = (
    "The same engine, so about level. Ours also takes the loss at the start, clips gradients "
    "(transformer), keeps every epoch's weights, and answers in double precision."
)


def digits():
    """scikit-learn's digits as 8 x 8 images."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    return X.reshape(-1, 8, 8) / 16, y


def signs():
    """Series whose sum decides."""
    X = np.random.default_rng(0).normal(size=(2000, 20, 4))
    return X, (X[:, :, 0].sum(axis=1) > 0).astype(int)


def accuracy(found, data):
    return np.array([np.mean(found == data[1])])


def training(**more):
    from pellucid.deep import Training

    return Training(learning_rate=RATE, batch_size=BATCH, max_epochs=EPOCHS, device="cpu", **more)


def pellucid_convolution(data):
    from pellucid.deep import ConvolutionalClassifier

    model = ConvolutionalClassifier(training=training(), random_state=0).fit(*data)
    return accuracy(model.predict(data[0]), data)


def plain(module, data, *, width):
    """The shortest loop one would write by hand."""
    import torch

    X = torch.tensor(data[0], dtype=torch.float32).reshape(len(data[0]), *width)
    y = torch.tensor(data[1])
    solver = torch.optim.Adam(module.parameters(), lr=RATE)
    for _ in range(EPOCHS):
        for rows in torch.randperm(len(X)).split(BATCH):
            solver.zero_grad()
            torch.nn.functional.cross_entropy(module(X[rows]), y[rows]).backward()
            solver.step()
    with torch.no_grad():
        return accuracy(module(X).argmax(1).numpy(), data)


def convolution():
    import torch
    from torch import nn

    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding="same"), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding="same"), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10),
    )  # fmt: skip


def torch_convolution(data):
    return plain(convolution(), data, width=(1, 8, 8))


def skorch_convolution(data):
    import torch
    from skorch import NeuralNetClassifier

    net = NeuralNetClassifier(
        convolution(), criterion=torch.nn.CrossEntropyLoss, optimizer=torch.optim.Adam, lr=RATE,
        batch_size=BATCH, max_epochs=EPOCHS, train_split=None, verbose=0,
        iterator_train__shuffle=True,
    )  # fmt: skip
    X = data[0][:, None].astype(np.float32)
    return accuracy(net.fit(X, data[1]).predict(X), data)


def pellucid_recurrent(data):
    from pellucid.deep import RecurrentClassifier

    model = RecurrentClassifier(32, cell="gru", training=training(), random_state=0).fit(*data)
    return accuracy(model.predict(data[0]), data)


def torch_recurrent(data):
    import torch
    from torch import nn

    class Last(nn.Module):
        def __init__(self):
            super().__init__()
            self.cells, self.head = nn.GRU(4, 32, batch_first=True), nn.Linear(32, 2)

        def forward(self, x):
            return self.head(self.cells(x)[0][:, -1])

    torch.manual_seed(0)
    return plain(Last(), data, width=(20, 4))


def pellucid_transformer(data):
    from pellucid.deep import TransformerClassifier

    model = TransformerClassifier(
        32, n_layers=1, d_feedforward=64, dropout=0.0, training=training(), random_state=0
    )
    return accuracy(model.fit(*data).predict(data[0]), data)


def torch_transformer(data):
    import torch
    from torch import nn

    class Mean(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed, self.head = nn.Linear(4, 32), nn.Linear(32, 2)
            layer = nn.TransformerEncoderLayer(32, 4, 64, 0.0, batch_first=True, norm_first=True)
            self.layers = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)

        def forward(self, x):
            return self.head(self.layers(self.embed(x)).mean(1))

    torch.manual_seed(0)
    return plain(Mean(), data, width=(20, 4))


def as_good(ours, theirs):
    """Two seeds of the same network: accuracies within five points, or ours the better one."""
    return bool(ours[0] > theirs[0] - 0.05)


# Also timed on a GPU, with GenerativeAdversarialNetwork, GraphNeuralNetworkClassifier,
# ConvolutionalRegressor, RecurrentRegressor and TransformerSequenceModel: see ``deep_gpu.py``.
CASES = [
    Case(
        "ConvolutionalClassifier, digits 1797 x 8 x 8, 5 epochs", digits,
        {"pellucid": pellucid_convolution, "PyTorch loop": torch_convolution,
         "skorch": skorch_convolution},
        as_good, "0.1 M multiply-adds per row, forward", NOTE, rounds=2, repeats=2,
    ),
    Case(
        "RecurrentClassifier, gru 32, 2000 x 20 x 4, 5 epochs", signs,
        {"pellucid": pellucid_recurrent, "PyTorch loop": torch_recurrent},
        as_good, "20 dependent steps per batch", NOTE, rounds=2, repeats=2,
    ),
    Case(
        "TransformerClassifier, 32 wide, 2000 x 20 x 4, 5 epochs", signs,
        {"pellucid": pellucid_transformer, "PyTorch loop": torch_transformer},
        as_good, "0.2 M multiply-adds per row, forward", NOTE, rounds=2, repeats=2,
    ),
]  # fmt: skip
