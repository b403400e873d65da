"""The size and the variant of every part of a Transformer, in one frozen record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from model.transformer.attention import KERNELS
from model.transformer.positions import POSITIONS

LEAST = {
    "vocabulary": 1,
    "d_model": 2,
    "heads": 1,
    "d_ff": 1,
    "encoder_layers": 0,
    "decoder_layers": 0,
    "max_tokens": 1,
}
NORMS = ("post", "pre")


@dataclass(frozen=True)
class ModelConfig:
    """Hyperparameters, named as in Vaswani et al. 2017, Table 3.

    Raises `ValueError`, naming the value and what it may be, when the parts do not fit together.
    """

    vocabulary: int  # number of subword types, special ones included
    d_model: int = 256  # width of the residual stream
    heads: int = 8  # h; each head reads d_k = d_v = d_model / h channels
    d_ff: int = 1024  # width of the hidden layer of the feed-forward network
    encoder_layers: int = 3
    decoder_layers: int = 3
    dropout: float = 0.1  # P_drop, on every sublayer's output and on embedding + position
    attention_dropout: float = 0.0  # on the weights; the paper has none
    max_tokens: int = 128  # longest source or target, special tokens included
    norm: str = "post"  # where a sublayer's layer norm stands, one of NORMS
    positions: str = "sinusoidal"  # a key of model.positions.POSITIONS
    kernel: str = "explicit"  # a key of model.attention.KERNELS

    def __post_init__(self) -> None:
        for name, least in LEAST.items():
            if getattr(self, name) < least:
                raise ValueError(f"{name} must be at least {least}, not {getattr(self, name)}")
        for name in ("dropout", "attention_dropout"):
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(f"{name} must be in [0, 1), not {getattr(self, name)}")
        if self.d_model % self.heads:
            raise ValueError(f"d_model {self.d_model} is not a multiple of heads {self.heads}")
        if self.d_model % 2:
            raise ValueError(f"d_model {self.d_model} is odd: sines and cosines come in pairs")
        for name, registry in (("norm", NORMS), ("positions", POSITIONS), ("kernel", KERNELS)):
            if getattr(self, name) not in registry:
                raise ValueError(f"unknown {name}: {getattr(self, name)}; known: {[*registry]}")

    @property
    def d_k(self) -> int:
        """Channels of one head: d_model / h (section 3.2.2)."""
        return self.d_model // self.heads

    def to_json(self) -> dict[str, Any]:
        """A plain mapping that `from_json` reads back."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> ModelConfig:
        """Raises `ValueError` for a key that is not a hyperparameter."""
        unknown = sorted(set(values) - {field.name for field in fields(cls)})
        if unknown:
            raise ValueError(f"unknown hyperparameters: {unknown}")
        return cls(**values)
