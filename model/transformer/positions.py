"""Positions (section 3.5): how the model knows the order of the words.

A variant is a part that overrides one or more of the places where order can enter (`at_input`,
`at_layer`, `before_qk`, `on_qk`, `on_scores`), and one line in `POSITIONS`. Each stack has its own,
shared by its layers. Cross-attention, whose queries and keys belong to two texts, has none.

Shapes: B batch, H heads, N queries, M keys, d_k channels of a head.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from model.trace.tensor_tap import FEATURE, HEAD, OFFSET, POSITION, QUERY, Tap


class Positions(nn.Module):
    """No positions: every method returns its argument.

    `length` is the maximum number of positions; offsets beyond ±`max_offset` are clipped.
    `at`, `queries` and `keys` are 0-based integer positions. A variant with parameters
    creates and initialises them in `__init__`, and names their axes in `learns`.
    """

    pairs = ""  # the size ("d_model" or "d_k") that must be even, for pairs of sine and cosine
    learns: Mapping[str, tuple[str, ...]] = {}
    fusible = True  # whether torch's fused kernel can be used: `on_scores` does not change scores
    clips = False  # whether it uses `max_offset`

    def __init__(
        self, length: int = 0, d_model: int = 0, heads: int = 1, max_offset: int | None = None
    ) -> None:
        super().__init__()

    def at_input(self, embedding: Tensor, positions: Tensor, tap: Tap) -> Tensor:
        """Change the embeddings (B, N, d_model) of tokens at `positions` (N,); same shape."""
        return embedding

    def at_layer(self, x: Tensor, positions: Tensor, tap: Tap) -> Tensor:
        """Change the input of a layer (B, N, d_model) at `positions` (N,); same shape."""
        return x

    def before_qk(self, x: Tensor, positions: Tensor, tap: Tap) -> Tensor:
        """Change the input of W_q or W_k (B, N, d_model) at `positions` (N,); same shape."""
        return x

    def on_qk(self, x: Tensor, positions: Tensor) -> Tensor:
        """Change queries or keys (B, H, N, d_k) of the tokens `positions` (N,); same shape."""
        return x

    def on_scores(self, scores: Tensor, queries: Tensor, keys: Tensor) -> Tensor:
        """Change scores (B, H, N, M) of `queries` (N,) and `keys` (M,); same shape."""
        return scores


@dataclass(frozen=True, eq=False)
class Order:
    """The positions of one pass: a part, and the positions of the tokens."""

    positions: Positions
    queries: Tensor  # (N,) positions of the tokens read in this pass
    keys: Tensor  # (M,) positions of all tokens that can be attended to

    @classmethod
    def of(cls, positions: Positions, ids: Tensor, start: int = 0) -> Order:
        """Return the order of `ids` (B, N) that are read after `start` others."""
        keys = torch.arange(start + ids.shape[1], device=ids.device)
        return cls(positions, keys[start:], keys)

    def at_input(self, embedding: Tensor, tap: Tap) -> Tensor:
        """Change the embeddings (B, N, d_model)."""
        return self.positions.at_input(embedding, self.queries, tap)

    def at_layer(self, x: Tensor, tap: Tap) -> Tensor:
        """Change the input of a layer (B, N, d_model)."""
        return self.positions.at_layer(x, self.queries, tap)

    def before_qk(self, x: Tensor, tap: Tap) -> Tensor:
        """Change the input of W_q or W_k (B, N, d_model) at the tokens read in this pass."""
        return self.positions.before_qk(x, self.queries, tap)

    def on_qk(self, x: Tensor) -> Tensor:
        """Change queries or keys (B, H, N, d_k) of the tokens read in this pass."""
        return self.positions.on_qk(x, self.queries)

    def on_scores(self, scores: Tensor) -> Tensor:
        """Change scores (B, H, N, M)."""
        return self.positions.on_scores(scores, self.queries, self.keys)


NO_ORDER = Order(Positions(), torch.empty(0), torch.empty(0))


class Table(Positions):
    """A row of `table` (length, d_model) is added to the embedding of each token."""

    table: Tensor

    def add(self, x: Tensor, positions: Tensor, tap: Tap) -> Tensor:
        """Return x + position, with the position recorded by the tap."""
        return x + tap("position", self.table[positions].expand_as(x), (QUERY, FEATURE))

    def at_input(self, embedding: Tensor, positions: Tensor, tap: Tap) -> Tensor:
        """Return embedding + position."""
        return self.add(embedding, positions, tap)


class EachLayer(Table):
    """The row is added to the input of each layer, including the first, and not to the embedding.

    Source: Dehghani et al. 2019, "Universal Transformers", equation 4, without its time step.
    """

    def at_input(self, embedding: Tensor, positions: Tensor, tap: Tap) -> Tensor:
        """Return the embedding unchanged."""
        return embedding

    def at_layer(self, x: Tensor, positions: Tensor, tap: Tap) -> Tensor:
        """Return x + position."""
        return self.add(x, positions, tap)


class OnQueriesAndKeys(Table):
    """The row is added to the input of W_q and W_k in each layer; values have no order.

    Source: Carion et al. 2020 (DETR), appendix A.3.
    """

    def at_input(self, embedding: Tensor, positions: Tensor, tap: Tap) -> Tensor:
        """Return the embedding unchanged."""
        return embedding

    def before_qk(self, x: Tensor, positions: Tensor, tap: Tap) -> Tensor:
        """Return x + position."""
        return self.add(x, positions, tap)


def angles(length: int, channels: int) -> Tensor:
    """Return pos / 10000^(2i / channels), (length, ⌈channels / 2⌉): a geometric series of waves.

    Float64, since at position 1000 a float32 angle is already off by 3e-5.
    """
    position = torch.arange(length, dtype=torch.float64)[:, None]  # (length, 1)
    even = torch.arange(0, channels, 2, dtype=torch.float64)  # 2i
    angle: Tensor = position / 10000 ** (even / channels)
    return angle


def encoding(length: int, d_model: int) -> Tensor:
    """Return sines and cosines whose wavelengths grow geometrically from 2π to 10000·2π.

        PE(pos, 2i)   = sin(pos / 10000^(2i / d_model))
        PE(pos, 2i+1) = cos(pos / 10000^(2i / d_model))

    Returns (length, d_model) float64.

    Source: Vaswani et al. 2017, section 3.5.
    """
    angle = angles(length, d_model)
    waves = torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)  # interleaved
    return waves[:, :d_model]


def sinusoidal(length: int, d_model: int) -> Tensor:
    """Return `encoding` in float32, for models."""
    return encoding(length, d_model).float()


class Sinusoidal(Table):
    """The paper's table (see `encoding`)."""

    pairs = "d_model"

    def __init__(
        self, length: int, d_model: int, heads: int, max_offset: int | None = None
    ) -> None:
        super().__init__()
        self.register_buffer("table", sinusoidal(length, d_model), persistent=False)


class Learned(Table):
    """A learned table (section 3.5, Table 3 row E), initialised on the scale of embeddings."""

    learns: Mapping[str, tuple[str, ...]] = {"table": (POSITION, FEATURE)}

    def __init__(
        self, length: int, d_model: int, heads: int, max_offset: int | None = None
    ) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(length, d_model) * d_model**-0.5)


class Rotary(Positions):
    """Queries and keys rotated by their position, so that q·k depends only on the distance.

        (x_2i, x_2i+1) -> R(pos / 10000^(2i / d_k)) (x_2i, x_2i+1),  R(a) the rotation by a

    Source: Su et al. 2021, "RoFormer", equations 15 and 34.
    """

    pairs = "d_k"
    cos: Tensor
    sin: Tensor

    def __init__(
        self, length: int, d_model: int, heads: int, max_offset: int | None = None
    ) -> None:
        super().__init__()
        angle = angles(length, d_model // heads)  # (length, d_k / 2)
        self.register_buffer("cos", angle.cos().float(), persistent=False)
        self.register_buffer("sin", angle.sin().float(), persistent=False)

    def on_qk(self, x: Tensor, positions: Tensor) -> Tensor:
        """Rotate each pair of neighbouring channels: (B, H, N, d_k)."""
        cos, sin = self.cos[positions], self.sin[positions]  # (N, d_k / 2)
        even, odd = x[..., 0::2], x[..., 1::2]
        return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)


class SinusoidalEachLayer(EachLayer, Sinusoidal):
    """The paper's table, in each layer."""


class LearnedEachLayer(EachLayer, Learned):
    """A learned table, in each layer; shared by all layers."""


class SinusoidalOnQueriesAndKeys(OnQueriesAndKeys, Sinusoidal):
    """The paper's table, only for queries and keys."""


class LearnedOnQueriesAndKeys(OnQueriesAndKeys, Learned):
    """A learned table, only for queries and keys."""


class Relative(Positions):
    """A learned number for each head and offset, added to the scores.

        score(i, j) + π[clip(j − i, −c, c)],  c = max_offset

    Source: Raffel et al. 2020 (T5), section 2.1, without its buckets; the clipping is that of Shaw
    et al. 2018, section 3.2.
    """

    learns: Mapping[str, tuple[str, ...]] = {"pi": (HEAD, OFFSET)}
    fusible = False
    clips = True
    neutral = 0.0  # leaves scores unchanged: the initial value of π

    def __init__(
        self, length: int, d_model: int, heads: int, max_offset: int | None = None
    ) -> None:
        super().__init__()
        self.most = min(length - 1, max_offset or length)  # the column of offset 0
        self.pi = nn.Parameter(torch.full((heads, 2 * self.most + 1), self.neutral))

    def of(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Return π for every query and key: (H, N, M)."""
        offsets = (keys - queries[:, None]).clamp(-self.most, self.most)
        return self.pi[:, offsets + self.most]

    def on_scores(self, scores: Tensor, queries: Tensor, keys: Tensor) -> Tensor:
        """Change scores (B, H, N, M)."""
        return scores + self.of(queries, keys)


class RelativeProduct(Relative):
    """The same number as a factor: score(i, j) · π[clip(j − i, −c, c)].

    Source: Huang et al. 2020, "Improve Transformer Models with Better Relative Position
    Embeddings", section 4, method 2.
    """

    neutral = 1.0

    def on_scores(self, scores: Tensor, queries: Tensor, keys: Tensor) -> Tensor:
        """Change scores (B, H, N, M)."""
        return scores * self.of(queries, keys)


POSITIONS: dict[str, type[Positions]] = {
    "sinusoidal": Sinusoidal,
    "learned": Learned,
    "sinusoidal-each-layer": SinusoidalEachLayer,
    "learned-each-layer": LearnedEachLayer,
    "sinusoidal-on-qk": SinusoidalOnQueriesAndKeys,
    "learned-on-qk": LearnedOnQueriesAndKeys,
    "rotary": Rotary,
    "relative": Relative,
    "relative-product": RelativeProduct,
    "none": Positions,
}

# Tables `(length, d_model) -> (length, d_model)` that are the same in every model.
TABLES: dict[str, Callable[[int, int], Tensor]] = {
    "sinusoidal": sinusoidal,
}
