"""The models that this server answers with, by id."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from model.adapters.info import ModelInfo
from model.adapters.native import load
from model.adapters.request import Adapter
from model.errors import InputError


class Catalog(Mapping[str, Adapter]):
    """Adapters by id, in the order of the settings: the first is the default."""

    def __init__(self, adapters: Mapping[str, Adapter]) -> None:
        if not adapters:
            raise ValueError("a catalog needs at least one model")
        self._adapters = dict(adapters)

    @classmethod
    def load(cls, bundles: Mapping[str, str], device: str) -> "Catalog":
        """Loads every bundle; raises what `model.adapters.native.load` raises."""
        return cls({name: load(path, device=device) for name, path in bundles.items()})

    def pick(self, name: str | None) -> tuple[str, Adapter]:
        """The id and the adapter of a model, of the default one for None.

        Raises InputError for a model that is not served.
        """
        if name is None:
            name = next(iter(self._adapters))
        if name not in self._adapters:
            known = ", ".join(self._adapters)
            raise InputError("unknown-model", "model", f"model must be one of: {known}")
        return name, self._adapters[name]

    def describe(self, name: str) -> ModelInfo:
        """The description of a model, under the id that it has here."""
        return replace(self[name].info, id=name)

    def __getitem__(self, name: str) -> Adapter:
        return self._adapters[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._adapters)

    def __len__(self) -> int:
        return len(self._adapters)
