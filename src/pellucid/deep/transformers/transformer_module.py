r"""Transformer layers.

    head_h = softmax(Q_h K_h' / sqrt(d)) V_h,     attention(x, m) = [head_1 .. head_H] W_o
    encoder layer:   x + attention(n(x), n(x));                      x + feedforward(n(x))
    decoder layer:   x + attention(n(x), n(x)), causal;  x + attention(n(x), memory);  feedforward

n is layer normalisation before each part (which trains without a warm-up of the rate), followed by
one more at the end. Positions are sines and cosines, added to the embeddings.
"""

import math

import torch
from torch import Tensor, nn

from pellucid.deep.transformers.tokens import PAD

Kept = list[Tensor] | None  # filled with attention weights where a list is given


class MultiHead(nn.Module):
    """Attention in several heads side by side."""

    def __init__(self, d_model: int, n_heads: int, dropout: float) -> None:
        super().__init__()
        self.n_heads, self.dropout = n_heads, dropout
        self.query = nn.Linear(d_model, d_model)
        self.key_value = nn.Linear(d_model, 2 * d_model)
        self.out = nn.Linear(d_model, d_model)

    def forward(
        self,
        x: Tensor,
        memory: Tensor,
        allowed: Tensor | None,
        causal: bool = False,
        keep: Kept = None,
    ) -> Tensor:
        """x (B, T, d), memory (B, S, d), allowed (B, 1, 1 or T, S) or None for everywhere."""
        q = self.split(self.query(x))
        k, v = (self.split(part) for part in self.key_value(memory).chunk(2, dim=-1))
        if keep is None:
            p = self.dropout if self.training else 0.0
            y = nn.functional.scaled_dot_product_attention(
                q, k, v, attn_mask=allowed, dropout_p=p, is_causal=causal
            )
        else:
            scores = q @ k.mT / math.sqrt(q.shape[-1])  # (B, H, T, S)
            if causal:
                allowed = torch.ones(scores.shape[-2:], dtype=torch.bool, device=x.device).tril()
            if allowed is not None:
                scores = scores.masked_fill(~allowed, -torch.inf)
            weights = scores.softmax(-1)
            keep.append(weights)
            y = weights @ v
        return self.out(y.transpose(1, 2).flatten(2))

    def split(self, x: Tensor) -> Tensor:
        """(B, T, d) -> (B, H, T, d / H)."""
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)


class FeedForward(nn.Sequential):
    """Two dense layers at every position."""

    def __init__(self, d_model: int, d_feedforward: int, dropout: float) -> None:
        super().__init__(
            nn.Linear(d_model, d_feedforward),
            nn.ReLU(),
            nn.Dropout(dropout),
            nn.Linear(d_feedforward, d_model),
        )


class EncoderLayer(nn.Module):
    """Every position looks at every other."""

    def __init__(self, d_model: int, n_heads: int, d_feedforward: int, dropout: float) -> None:
        super().__init__()
        self.attend = MultiHead(d_model, n_heads, dropout)
        self.forth = FeedForward(d_model, d_feedforward, dropout)
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.drop = nn.Dropout(dropout)

    def forward(self, x: Tensor, allowed: Tensor | None, keep: Kept = None) -> Tensor:
        n = self.norm_1(x)
        x = x + self.drop(self.attend(n, n, allowed, keep=keep))
        return x + self.drop(self.forth(self.norm_2(x)))


class DecoderLayer(nn.Module):
    """Every position looks at itself and earlier ones, then at the source."""

    def __init__(self, d_model: int, n_heads: int, d_feedforward: int, dropout: float) -> None:
        super().__init__()
        self.attend = MultiHead(d_model, n_heads, dropout)
        self.cross = MultiHead(d_model, n_heads, dropout)
        self.forth = FeedForward(d_model, d_feedforward, dropout)
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.norm_3 = nn.LayerNorm(d_model)
        self.drop = nn.Dropout(dropout)

    def forward(
        self,
        x: Tensor,
        memory: Tensor,
        allowed: Tensor | None,
        own: Kept = None,
        crossed: Kept = None,
    ) -> Tensor:
        n = self.norm_1(x)
        x = x + self.drop(self.attend(n, n, None, causal=True, keep=own))
        x = x + self.drop(self.cross(self.norm_2(x), memory, allowed, keep=crossed))
        return x + self.drop(self.forth(self.norm_3(x)))


def positions(length: int, d_model: int) -> Tensor:
    """Sines and cosines of wavelengths from 2 pi to 10000 x 2 pi, (length, d)."""
    at = torch.arange(length, dtype=torch.float64)[:, None]
    rate = torch.exp(-math.log(1e4) * torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    both = torch.stack([torch.sin(at * rate), torch.cos(at * rate)], dim=-1)
    return both.flatten(1)[:, :d_model].float()


class Encoder(nn.Module):
    """Embedding (of tokens, or linear of numbers), positions, layers."""

    place: Tensor

    def __init__(
        self,
        width: int,
        is_tokens: bool,
        d_model: int,
        n_heads: int,
        n_layers: int,
        d_feedforward: int,
        dropout: float,
        max_length: int,
    ) -> None:
        super().__init__()
        self.is_tokens = is_tokens
        self.embed = (
            nn.Embedding(width, d_model, padding_idx=PAD)
            if is_tokens
            else nn.Linear(width, d_model)
        )
        self.register_buffer("place", positions(max_length, d_model), persistent=False)
        self.layers = nn.ModuleList(
            EncoderLayer(d_model, n_heads, d_feedforward, dropout) for _ in range(n_layers)
        )
        self.norm, self.drop = nn.LayerNorm(d_model), nn.Dropout(dropout)

    def allowed(self, x: Tensor, lengths: Tensor | None) -> Tensor | None:
        """(B, 1, 1, S): the positions that exist; None: all of them, which is faster."""
        if lengths is None:
            return None
        inside = torch.arange(x.shape[1], device=x.device) < lengths[:, None]
        return inside[:, None, None, :]

    def forward(self, x: Tensor, lengths: Tensor | None, keep: Kept = None) -> Tensor:
        mask = self.allowed(x, lengths)
        h = self.drop(self.embed(x) + self.place[: x.shape[1]])
        for layer in self.layers:
            h = layer(h, mask, keep)
        return self.norm(h)


class ClassifierModule(nn.Module):
    """Encoder, the mean over the positions, a linear head."""

    def __init__(self, encoder: Encoder, d_model: int, n_outputs: int) -> None:
        super().__init__()
        self.encoder, self.head = encoder, nn.Linear(d_model, n_outputs)

    def forward(self, x: Tensor, lengths: Tensor | None = None) -> Tensor:
        h = self.encoder(x, lengths)
        if lengths is None:
            return self.head(h.mean(1))
        inside = (torch.arange(h.shape[1], device=h.device) < lengths[:, None])[..., None]
        return self.head((h * inside).sum(1) / lengths[:, None])

    def maps(self, x: Tensor, lengths: Tensor | None = None) -> Tensor:
        """Attention weights (B, layers, heads, T, T)."""
        kept: list[Tensor] = []
        self.encoder(x, lengths, kept)
        return torch.stack(kept, dim=1)


class SequenceModule(nn.Module):
    """Encoder and decoder; the logits of the next token at every position of the target."""

    def __init__(
        self,
        encoder: Encoder,
        n_tokens: int,
        d_model: int,
        n_heads: int,
        n_layers: int,
        d_feedforward: int,
        dropout: float,
        max_length: int,
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.embed = nn.Embedding(n_tokens, d_model, padding_idx=PAD)
        self.layers = nn.ModuleList(
            DecoderLayer(d_model, n_heads, d_feedforward, dropout) for _ in range(n_layers)
        )
        self.norm, self.drop = nn.LayerNorm(d_model), nn.Dropout(dropout)
        self.head = nn.Linear(d_model, n_tokens)

    def decode(
        self,
        memory: Tensor,
        allowed: Tensor | None,
        begun: Tensor,
        own: Kept = None,
        crossed: Kept = None,
    ) -> Tensor:
        """Logits (B, T, tokens) after each of the tokens ``begun`` (B, T)."""
        h = self.drop(self.embed(begun) + self.encoder.place[: begun.shape[1]])
        for layer in self.layers:
            h = layer(h, memory, allowed, own, crossed)
        return self.head(self.norm(h))

    def forward(self, source: Tensor, lengths: Tensor, begun: Tensor) -> Tensor:
        memory = self.encoder(source, lengths)
        return self.decode(memory, self.encoder.allowed(source, lengths), begun)
