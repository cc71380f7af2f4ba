"""The recurrent network: a cell that is carried along the sequence, and a linear head."""

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

CELLS = {"elman": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}


class RecurrentModule(nn.Module):
    """(B, T, width), lengths (B,) -> (B, outputs), or (B, T, outputs) with ``every`` step.

    One direction reads the padded array as it is: what follows the end cannot reach back. Two
    directions need packed sequences, so that the way back starts at each one's own end.
    """

    def __init__(
        self,
        width: int,
        hidden_size: int,
        cell: str,
        n_layers: int,
        bidirectional: bool,
        every: bool,
        n_outputs: int,
    ) -> None:
        super().__init__()
        self.cells = CELLS[cell](
            width, hidden_size, n_layers, batch_first=True, bidirectional=bidirectional
        )
        self.head = nn.Linear(hidden_size * (2 if bidirectional else 1), n_outputs)
        self.bidirectional, self.every, self.size = bidirectional, every, hidden_size

    def states(self, x: Tensor, lengths: Tensor) -> Tensor:
        """The hidden states of every step, (B, T, hidden)."""
        if not self.bidirectional:
            return self.cells(x)[0]
        packed = pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
        return pad_packed_sequence(
            self.cells(packed)[0], batch_first=True, total_length=x.shape[1]
        )[0]

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        h = self.states(x, lengths)
        if self.every:
            return self.head(h)
        last = h[torch.arange(len(h), device=h.device), lengths - 1]
        if self.bidirectional:  # the way back ends at the first step
            last = torch.cat([last[:, : self.size], h[:, 0, self.size :]], dim=1)
        return self.head(last)
