"""Sentences in a notebook: ``from app.notebook import show; show(model, "Hello")``."""

from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from pathlib import Path

from app.engine.wire import trace_reply
from app.handout_file import SELECT, handout
from app.schemas.replies import ModelReply
from model.adapters.request import Adapter, Request
from model.trace.name_patterns import present

HEIGHT = 760  # pixels: enough for a sentence's figure without scrolling


@dataclass(frozen=True)
class Shown:
    """A handout shown in a notebook; `save` writes it to a file that any browser opens."""

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
        """Write the file and return its path."""
        file = Path(path)
        file.write_bytes(self.html)
        return file


def show(
    model: Adapter,
    sentence: str | Request,
    *,
    block: str | None = None,
    layer: int | None = None,
    head: int | None = None,
    lang: str = "en",
    theme: str | None = None,
    height: int = HEIGHT,
) -> Shown:
    """Show a sentence's trace, opened on a head; by default on the most informative one.

    `block` is "encoder", "decoder" or "cross"; `theme` "light" or "dark" (None: the system's).
    Another trace's `request` can be passed too; the picture determines what is selected.
    """
    seen = model.trace(sentence, select=present(SELECT, model.names), summarise="*")
    place = {"block": block, "layer": layer, "head": head}
    state = {model.info.texts[0]: seen.request.source, "view": "attention", "lang": lang}
    about = {
        "state": state | {key: value for key, value in place.items() if value is not None},
        "asks": [],
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "model": ModelReply.model_validate(model.info).model_dump(),
    }
    return Shown(handout(trace_reply(seen, "", model.info.id), about, "", theme), height)
