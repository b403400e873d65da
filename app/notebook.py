"""Traces in a notebook: ``from app.notebook import show; show(trace)``."""

from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from pathlib import Path

from app.engine.wire import trace_reply
from app.handout import SELECT, handout
from app.schemas.traces import ModelReply
from model.adapters.request import Trace

HEIGHT = 760  # pixels: a sentence's figure without scrolling


@dataclass(frozen=True)
class Shown:
    """A handout that a notebook draws; `save` writes it to a file that any browser opens."""

    html: bytes
    height: int = HEIGHT

    def _repr_html_(self) -> str:
        document = escape(self.html.decode(), quote=True)
        return (
            f'<iframe title="Headlight" width="100%" height="{self.height}" '
            f'style="border: 0" srcdoc="{document}"></iframe>'
        )

    def __repr__(self) -> str:
        return f"Shown({len(self.html) / 1e6:.1f} MB of HTML)"

    def save(self, path: str | Path) -> Path:
        """Writes the file and returns where it is."""
        file = Path(path)
        file.write_bytes(self.html)
        return file


def show(
    trace: Trace,
    *,
    block: str | None = None,
    layer: int | None = None,
    head: int | None = None,
    lang: str = "en",
    theme: str | None = None,
    height: int = HEIGHT,
) -> Shown:
    """The trace to look at, opened on a head: the one that tells most, if none is given.

    `block` is "encoder", "decoder" or "cross"; `theme` "light" or "dark" (None: as the system has
    it). The request is run anew, for all that the picture needs.
    """
    model = trace.model
    seen = model.trace(trace.request, select=SELECT, summarise="*")
    place = {"block": block, "layer": layer, "head": head}
    state = {"source": trace.request.source, "view": "attention", "lang": lang}
    about = {
        "state": state | {key: value for key, value in place.items() if value is not None},
        "asks": [],
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "model": ModelReply.model_validate(model.info).model_dump(),
    }
    return Shown(handout(trace_reply(seen, "", model.info.id), about, "", theme), height)
