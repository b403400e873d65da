"""Descriptions of the models without their weights: plain data, which an engine sends once."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from model.adapters.model_info import ModelInfo
from model.errors import InputError


@dataclass(frozen=True)
class Listing(Mapping[str, ModelInfo]):
    """The models being served, by id; the first is the default."""

    infos: dict[str, ModelInfo]
    recorded: dict[str, tuple[str, ...]]
    at_once: int  # models that may be in memory

    def pick(self, name: str | None) -> str:
        """Return the id of a model, or of the default one for None.

        Raises InputError if the model is not served.
        """
        if name is None:
            return next(iter(self.infos))
        if name not in self.infos:
            known = ", ".join(self.infos)
            raise InputError("unknown-model", "model", f"model must be one of: {known}")
        return name

    def add(self, name: str, info: ModelInfo, recorded: tuple[str, ...]) -> None:
        """Add a model at the end of the list; engines find its bundle by themselves."""
        self.infos[name], self.recorded[name] = info, recorded

    def remove(self, name: str) -> None:
        """Remove a model from the list. Raises KeyError if it is not listed."""
        del self.infos[name], self.recorded[name]

    def describe(self, name: str) -> ModelInfo:
        """Return the description of a model, under its id on this server."""
        return replace(self.infos[name], id=name)

    def names(self, name: str) -> tuple[str, ...]:
        """Return the names of the tensors that a run of a model records."""
        return self.recorded[name]

    def __getitem__(self, name: str) -> ModelInfo:
        return self.describe(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.infos)

    def __len__(self) -> int:
        return len(self.infos)
