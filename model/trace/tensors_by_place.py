"""Tensors of an attention by its place: `trace.weights("decoder.0.cross", head=3)`."""

from __future__ import annotations

from model.trace.tensor_tap import NamedTensor


class TensorsByPlace:
    """The tensors of an attention by its place, for what has tensors by name.

    `place` is "decoder.0.cross" for example. Indices choose from axes, as `NamedTensor.take` does.
    """

    def __getitem__(self, name: str) -> NamedTensor:
        raise NotImplementedError

    def weights(self, place: str, **indices: int) -> NamedTensor:
        """Return the attention weights of a place: (head, query, key)."""
        return self[f"{place}.weights"].take(**indices)

    def mask(self, place: str, **indices: int) -> NamedTensor:
        """Return which keys each query of a place may attend to: (query, key)."""
        return self[f"{place}.mask"].take(**indices)

    def q(self, place: str, **indices: int) -> NamedTensor:
        """Return the queries of a place: (head, query, channel)."""
        return self[f"{place}.q"].take(**indices)

    def k(self, place: str, **indices: int) -> NamedTensor:
        """Return the keys of a place: (head, key, channel)."""
        return self[f"{place}.k"].take(**indices)

    def v(self, place: str, **indices: int) -> NamedTensor:
        """Return the values of a place: (head, key, channel)."""
        return self[f"{place}.v"].take(**indices)
