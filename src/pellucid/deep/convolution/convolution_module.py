"""The convolutional network: (filters, relu, pooling) per stage, then dense layers."""

from itertools import pairwise

import torch
from torch import Tensor, nn


class Filters(nn.Conv2d):
    """Cross-correlation that keeps the size: (k - 1) // 2 zeros before, k // 2 behind."""

    def __init__(self, before: int, filters: int, size: tuple[int, int]) -> None:
        a, b = size
        even = a % 2 == 0 or b % 2 == 0  # the two sides differ: the zeros are written out
        super().__init__(before, filters, size, padding=0 if even else (a // 2, b // 2))
        self.zeros = ((b - 1) // 2, b // 2, (a - 1) // 2, a // 2) if even else None

    def forward(self, input: Tensor) -> Tensor:
        return super().forward(
            input if self.zeros is None else nn.functional.pad(input, self.zeros)
        )


class ConvolutionModule(nn.Module):
    """(B, c, h, w) -> (B, outputs).

    Filters keep the size of their map (zero padding); pooling divides it. A filter or a tile that
    is larger than what is left is cut to it. The channels of a pixel lie together in memory, which
    convolutions and pools read faster.
    """

    def __init__(
        self,
        shape: tuple[int, int, int],
        channels: tuple[int, ...],
        kernel_size: int,
        pool_size: int,
        pooling: str,
        hidden: tuple[int, ...],
        n_outputs: int,
    ) -> None:
        super().__init__()
        c, h, w = shape
        self.filters, self.pools = nn.ModuleList(), nn.ModuleList()
        tile = nn.MaxPool2d if pooling == "max" else nn.AvgPool2d
        for k in channels:
            size = (min(kernel_size, h), min(kernel_size, w))
            self.filters.append(Filters(c, k, size))
            cut = (min(pool_size, h), min(pool_size, w))
            self.pools.append(tile(cut))
            c, h, w = k, h // cut[0], w // cut[1]
        units = [c * h * w, *hidden]
        layers: list[nn.Module] = [nn.Flatten()]
        for a, b in pairwise(units):
            layers += [nn.Linear(a, b), nn.ReLU()]
        self.head = nn.Sequential(*layers, nn.Linear(units[-1], n_outputs))
        self.largest = pooling == "max"
        for weights in self.filters.parameters():
            if weights.ndim == 4:
                weights.data = weights.data.contiguous(memory_format=torch.channels_last)

    def maps(self, x: Tensor) -> Tensor:
        """The maps after the last stage, (B, channels, h, w)."""
        x = x.contiguous(memory_format=torch.channels_last)
        relu = nn.functional.relu
        for filters, pool in zip(self.filters, self.pools, strict=True):
            z = filters(x)  # the largest of relus is the relu of the largest, on fewer numbers
            x = relu(pool(z)) if self.largest else pool(relu(z))
        return x

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.maps(x))

    def maps_1(self, x: Tensor) -> Tensor:
        """The maps of the first filters, before pooling: (B, channels, h, w)."""
        return nn.functional.relu(self.filters[0](x))
