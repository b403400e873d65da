"""The arguments of an engine process. Imports nothing slow (see `app.engine.start_processes`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from app.engine.catalog import Catalog


@dataclass(frozen=True)
class Opening:
    """The arguments of an engine process; they can be pickled."""

    catalog: Callable[[], Catalog]
    prepare: Callable[[], object]  # called first; sets up logging
    threads: int  # of PyTorch
    device: int | None = None  # index of the GPU; None: as in the catalog
    free_bytes: int = 0  # that the process keeps (see `app.engine.engine_process`)


@dataclass(frozen=True)
class LoadCatalog:
    """The arguments of `Catalog.load`; calling it loads the catalog in the calling process."""

    bundles: Mapping[str, str]
    device: str
    max_models: int
    drafts: Path | None
    zoo: Mapping[str, str] = field(default_factory=dict)
    kept: Path | None = None  # a folder in which models appear later
    max_pass_bytes: int = 1_000_000_000
    pass_precision: Literal["int16", "float32"] = "int16"
    dtype: str | None = None
    download: bool = False

    def __call__(self) -> Catalog:
        """Load the catalog. Raises what `Catalog.load` raises."""
        from app.engine.catalog import Catalog
        from app.engine.long_texts import Passes

        return Catalog.load(
            self.bundles,
            self.device,
            self.max_models,
            self.drafts,
            self.zoo,
            self.kept,
            Passes(self.max_pass_bytes, self.pass_precision),
            self.dtype,
            self.download,
        )
