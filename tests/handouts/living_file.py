"""A handout in which the model runs, of a sentence, as a file."""

from pathlib import Path

from app.engine.reply_formats import trace_reply
from app.figures.figure_kinds import HandoutContent
from app.handouts.handout_html import SELECT
from app.handouts.service import living_handout
from app.traces.replies import ModelReply
from model.adapters.encoder_decoder.encoder_decoder_adapter import EncoderDecoder


def write_living(adapter: EncoderDecoder, exported: Path, state: dict[str, object]) -> bytes:
    """Return the file of a state; `exported` has the model."""
    trace = adapter.trace(str(state["source"]), select=SELECT)
    model = ModelReply.model_validate(adapter.info).model_dump()
    about = {"state": state, "created": "2026-11-29T12:00:00+00:00", "model": model}
    content = HandoutContent(trace_reply(trace, "run", adapter.info.id), about, [])
    return living_handout(content, model, exported, "", None)
