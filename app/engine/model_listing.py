"""Descriptions of the models without their weights: plain data, which an engine sends once."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from model.adapters.requests.model_info import ModelInfo
from model.errors import InputError


@dataclass(frozen=True)
class Listing(Mapping[str, ModelInfo]):
    """The models being served, by id; the first is the default.

    `unopened` are those that should be served and cannot be opened, each with the reason.
    """

    infos: dict[str, ModelInfo]
    recorded: dict[str, tuple[str, ...]]
    at_once: int  # models that may be in memory
    unopened: dict[str, str] = field(default_factory=dict)

    @classmethod
    def common(cls, listings: Sequence["Listing"]) -> "Listing":
        """Return the models that all of several processes have opened."""
        unopened = {
            name: why for listing in reversed(listings) for name, why in listing.unopened.items()
        }
        first = listings[0]
        infos = {name: info for name, info in first.infos.items() if name not in unopened}
        return cls(infos, first.recorded, first.at_once, unopened)

    def pick(self, name: str | None) -> str:
        """Return the id of a model, or of the default one for None.

        Raises InputError if the model is not served.
        """
        if name is None:
            return next(iter(self.infos))
        if name not in self.infos:
            names = ", ".join(self.infos)
            detail = f"model must be one of: {names}"
            if name in self.unopened:
                detail = f"model: {self.absent(name)}; {detail}"
            raise InputError("unknown-model", "model", detail)
        return name

    def absent(self, name: str) -> str:
        """Say that a model is not served, and why if it should be."""
        if name in self.unopened:
            return f"this model cannot be opened: {self.unopened[name]}"
        return "this model is not served here"

    def add(self, name: str, info: ModelInfo, recorded: tuple[str, ...]) -> None:
        """Add a model at the end of the list; engines find its bundle by themselves."""
        self.infos[name], self.recorded[name] = info, recorded

    def remove(self, name: str) -> None:
        """Remove a model from the list. Raises KeyError if it is not listed."""
        if self.unopened.pop(name, None) is None:
            del self.infos[name], self.recorded[name]

    def describe(self, name: str) -> ModelInfo:
        """Return the description of a model, under its id on this server."""
        info = self.infos[name]
        return info if info.id == name else replace(info, id=name)

    def names(self, name: str) -> tuple[str, ...]:
        """Return the names of the tensors that a run of a model records."""
        return self.recorded[name]

    def __getitem__(self, name: str) -> ModelInfo:
        return self.describe(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.infos)

    def __len__(self) -> int:
        return len(self.infos)
