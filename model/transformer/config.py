"""The sizes and variants of a Transformer's parts, in one frozen record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

import torch

from model.transformer.attention import KERNELS
from model.transformer.masks import named, spelled
from model.transformer.norms import NORMS
from model.transformer.positions import POSITIONS
from model.transformer.scoring import SCORINGS

RANGES = {  # the smallest and the largest value
    "vocabulary": (1, 4_000_000),
    "d_model": (2, 65_536),
    "heads": (1, 1_024),
    "encoder_heads": (1, 1_024),
    "d_ff": (1, 1_048_576),
    "encoder_layers": (0, 128),
    "decoder_layers": (0, 128),
    "max_tokens": (1, 1_048_576),
    "max_offset": (1, 1_048_576),
}
TABLE = 1 << 24  # numbers of a table of positions, max_tokens × d_model: it is in no file
VARIANTS: dict[str, Mapping[str, object]] = {
    "norm": NORMS,
    "positions": POSITIONS,
    "kernel": KERNELS,
    "scoring": SCORINGS,
}


@dataclass(frozen=True)
class ModelConfig:
    """Hyperparameters, named as in Vaswani et al. 2017, Table 3.

    Raises `ValueError`, which names the value and the allowed ones, for invalid or incompatible
    values.
    """

    vocabulary: int  # number of subword types, including special ones
    d_model: int = 256  # width of the residual stream
    heads: int = 8  # h; each head reads d_k = d_v = d_model / h channels
    d_ff: int = 1024  # width of the hidden layer of the feed-forward network
    encoder_layers: int = 3
    decoder_layers: int = 3
    dropout: float = 0.1  # P_drop, on every sublayer's output and on embedding + position
    attention_dropout: float = 0.0  # on the weights; the paper has none
    head_dropout: float = 0.0  # on whole heads of a sentence; the paper has none
    max_tokens: int = 128  # longest source or target, including special tokens
    norm: str = "post"  # position of a sublayer's layer norm, a key of norms.NORMS
    positions: str = "sinusoidal"  # a key of positions.POSITIONS
    max_offset: int | None = None  # for relative positions: larger offsets are clipped to it
    kernel: str = "explicit"  # a key of attention.KERNELS
    scoring: str = "scaled-dot"  # a key of scoring.SCORINGS
    bias: bool = True  # whether the attention's projections have biases (W_k's stays zero)
    encoder_heads: int | None = None  # h of the encoder, if it is not that of the decoder
    encoder_mask: str = "padding"  # of self-attention, names of masks.MASKS combined with &
    decoder_mask: str = "causal"

    def __post_init__(self) -> None:
        for name, (least, largest) in RANGES.items():
            if (value := getattr(self, name)) is not None and not least <= value <= largest:
                limit = f"at least {least}" if value < least else f"at most {largest}"
                raise ValueError(f"{name} must be {limit}, not {value}")
        if self.max_tokens * self.d_model > TABLE:
            raise ValueError(f"max_tokens × d_model must be at most {TABLE}")
        for name in ("dropout", "attention_dropout", "head_dropout"):
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(f"{name} must be in [0, 1), not {getattr(self, name)}")
        for name in ("heads", "encoder_heads"):
            if (value := getattr(self, name)) is not None and self.d_model % value:
                raise ValueError(f"d_model {self.d_model} is not a multiple of {name} {value}")
        self._check_variants()

    def _check_variants(self) -> None:
        for name, registry in VARIANTS.items():
            if getattr(self, name) not in registry:
                raise ValueError(f"unknown {name}: {getattr(self, name)}; known: {[*registry]}")
        named(self.encoder_mask)
        if named(self.decoder_mask)(torch.tensor([0]), torch.tensor([1])).any():
            raise ValueError(f"decoder_mask {self.decoder_mask} shows later tokens: add causal")
        positions = POSITIONS[self.positions]
        if positions.pairs and getattr(self, positions.pairs) % 2:
            size = f"{positions.pairs} {getattr(self, positions.pairs)}"
            raise ValueError(f"{size} must be even, because sines and cosines come in pairs")
        if self.max_offset is not None and not positions.clips:
            raise ValueError(f"positions {self.positions} do not use max_offset: leave it out")
        if self.kernel == "fused" and not self.fusible:
            parts = f"scoring {self.scoring} with positions {self.positions}"
            raise ValueError(f"the fused kernel does not support {parts}: use explicit")

    @property
    def fusible(self) -> bool:
        """Whether torch's fused kernel can compute its attention."""
        return POSITIONS[self.positions].fusible and SCORINGS[self.scoring].fusible

    @property
    def d_k(self) -> int:
        """Channels of one of the decoder's heads: d_model / h (section 3.2.2)."""
        return self.d_model // self.heads

    @property
    def heads_of(self) -> dict[str, int]:
        """Number of heads of an attention, by stack."""
        return {"encoder": self.encoder_heads or self.heads, "decoder": self.heads}

    @property
    def masks(self) -> dict[str, str]:
        """The name of the mask of each kind of attention, such as "causal & window-3"."""
        return {
            "encoder.self": spelled(self.encoder_mask),
            "decoder.self": spelled(self.decoder_mask),
            "decoder.cross": "padding",
        }

    def to_json(self) -> dict[str, Any]:
        """Return a plain mapping that `from_json` reads."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> ModelConfig:
        """Create a config. Raises `ValueError` for an unknown or mistyped hyperparameter."""
        unknown = sorted(set(values) - {field.name for field in fields(cls)})
        if unknown:
            raise ValueError(f"unknown hyperparameters: {unknown}")
        return cls(**values)
