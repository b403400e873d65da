"""What is known of the models without their weights: plain data, which an engine sends once."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from model.adapters.model_info import ModelInfo
from model.errors import InputError


@dataclass(frozen=True)
class Listing(Mapping[str, ModelInfo]):
    """The models that are served, by id; the first is the default."""

    infos: Mapping[str, ModelInfo]
    recorded: Mapping[str, tuple[str, ...]]
    at_once: int  # models that may be in memory

    def pick(self, name: str | None) -> str:
        """The id of a model, of the default one for None.

        Raises InputError for a model that is not served.
        """
        if name is None:
            return next(iter(self.infos))
        if name not in self.infos:
            known = ", ".join(self.infos)
            raise InputError("unknown-model", "model", f"model must be one of: {known}")
        return name

    def describe(self, name: str) -> ModelInfo:
        """The description of a model, under the id that it has here."""
        return replace(self.infos[name], id=name)

    def names(self, name: str) -> tuple[str, ...]:
        """The tensors that a run of a model records."""
        return self.recorded[name]

    def __getitem__(self, name: str) -> ModelInfo:
        return self.describe(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.infos)

    def __len__(self) -> int:
        return len(self.infos)
