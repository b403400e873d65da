"""The models of a site: the one that translates, and small ones of the zoo that lessons show."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from app.assets.languages import languages
from app.lessons.markdown import Text
from app.lessons.quoted_numbers import lessons, short_lesson
from app.settings import ZOO
from model import load
from model.adapters.encoder_decoder.adapter import load as load_bundle
from model.adapters.requests.adapter_interface import Adapter
from model.bundle.weights import CHECKPOINTS, WEIGHTS

MAX_ZOO_BYTES = 2_000_000  # of the weights of a model that is loaded when a reader chooses it


@dataclass(frozen=True)
class SiteModel:
    """A model that runs in the pages of a site, and the folder of its bundle."""

    adapter: Adapter
    bundle: Path


def site_models(model: str) -> list[SiteModel]:
    """Load the models of a site, `model` first."""
    shipped = CHECKPOINTS / model
    first = SiteModel(load(model), shipped if shipped.is_dir() else Path(model))
    zoo = {f"zoo-{folder.name}": folder for folder in sorted(ZOO.iterdir())}
    return [
        first,
        *(
            SiteModel(load_bundle(zoo[id_], "cpu", id_), zoo[id_])
            for id_ in sorted({*_models_of_lessons()} & zoo.keys())
            if (zoo[id_] / WEIGHTS).stat().st_size <= MAX_ZOO_BYTES
        ),
    ]


def _models_of_lessons() -> Iterator[str]:
    for lesson in (*lessons(), short_lesson()):
        for lang in languages():
            for part in lesson.document(lang).parts:
                if not isinstance(part, Text) and part.block.link.page == "workspace":
                    yield part.block.link.state.get("model", "")
