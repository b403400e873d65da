"""The run on which the page opens, as a share: it is drawn while the model is being loaded.

A browser that cannot run the model shows only this.
"""

from collections.abc import Mapping
from typing import Any

from app.assets.static_files import STATIC
from app.engine.reply_formats import trace_reply
from model.adapters.requests.adapter_interface import Adapter

# What the opening draws, and the views of attention; vectors would be six times as many bytes.
SELECT = ["*.weights", "*.mask", "*.probabilities", "*.candidates"]
EXAMPLES = "js/core/store/examples-and-tasks.js"
EXAMPLE = 'lang: "{}", text: "'  # before an example's sentence


def opening_sentence(lang: str) -> str:
    """Return the sentence on which the page opens: the first example of its language."""
    examples = (STATIC / EXAMPLES).read_text(encoding="utf-8")
    for language in (lang, "en"):
        _, label, rest = examples.partition(EXAMPLE.format(language))
        if label:
            return rest.partition('"')[0]
    raise ValueError(f"{EXAMPLES} has no example in en")


def frozen_opening(adapter: Adapter, described: Mapping[str, Any], lang: str) -> bytes:
    """Return the run of the opening's sentence as a file; `described`: the model, for the page."""
    sentence = opening_sentence(lang)
    trace = adapter.trace(sentence, select=SELECT)
    reply = trace_reply(trace, f"opening-{lang}", adapter.info.id)
    state = {"source": sentence, "lang": lang, "view": "attention"}
    return reply.safetensors(share={"state": state, "model": described, "asks": []})
