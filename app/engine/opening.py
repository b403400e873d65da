"""What an engine process needs to begin. Imports nothing that takes long (`app.engine.launch`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.engine.catalog import Catalog


@dataclass(frozen=True)
class Opening:
    """What a process needs to begin; all of it can be pickled."""

    catalog: Callable[[], Catalog]
    prepare: Callable[[], object]  # called first: logging
    threads: int  # PyTorch's
    device: int | None = None  # which GPU; None: as the catalog says


@dataclass(frozen=True)
class LoadCatalog:
    """What `Catalog.load` takes; called, it loads the catalog in the process that calls."""

    bundles: Mapping[str, str]
    device: str
    max_models: int
    drafts: Path | None
    zoo: Mapping[str, str] = field(default_factory=dict)

    def __call__(self) -> Catalog:
        """Load it; raises what `Catalog.load` raises."""
        from app.engine.catalog import Catalog

        return Catalog.load(self.bundles, self.device, self.max_models, self.drafts, self.zoo)
