"""A model's attention as a page of another tool, for `bench.peers`.

    python bench/peer_page.py TOOL MODEL TEXT PAGE

Run it with an interpreter that has the tool; it prints the tool's version and the seconds from text
to page, with the model in memory.
"""

import json
import sys
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModel, AutoTokenizer

# each tool is imported only where it is measured


def bertviz(folder: str, text: str, name: str) -> Callable[[], str]:
    """Return what writes a page of `head_view` or `model_view`."""
    import bertviz as library

    run = model_of(folder)
    view = getattr(library, name)
    return lambda: str(view(*run(text), html_action="return").data)


def neuron_view(folder: str, text: str, name: str) -> Callable[[], str]:
    """Return what writes BertViz's `neuron_view`, which has its own copy of BERT."""
    from bertviz.neuron_view import show
    from bertviz.transformers_neuron_view import BertConfig, BertModel

    words = AutoTokenizer.from_pretrained(folder)
    config = BertConfig.from_json_file(f"{folder}/config.json")
    config.output_attentions = True
    model = BertModel(config).eval()
    model.load_state_dict(AutoModel.from_pretrained(folder).state_dict(), strict=False)
    return lambda: str(show(model, "bert", words, text, html_action="return").data)


def circuitsvis(folder: str, text: str, name: str) -> Callable[[], str]:
    """Return what writes all heads as one figure of CircuitsVis, with its script inside."""
    from circuitsvis.attention import attention_heads

    run = model_of(folder)

    def page() -> str:
        layers, tokens = run(text)
        heads = torch.cat([layer[0] for layer in layers])
        return f"<!doctype html><meta charset=utf-8>{attention_heads(heads, tokens).local_src}"

    return page


def attnview(folder: str, text: str, name: str) -> Callable[[], str]:
    """Return what writes a page of attnview, which shows one row of one head at a time."""
    import attnview as library

    run = model_of(folder)

    def page() -> str:
        layers, tokens = run(text)
        cache = {f"blocks.{n}.attn.hook_pattern": layer for n, layer in enumerate(layers)}
        return str(library.render_html(library.from_cache(cache, tokens=tokens)))

    return page


def model_of(folder: str) -> Callable[[str], tuple[Any, list[str]]]:
    """Return what runs a text: the weights of each layer, and the tokens."""
    words = AutoTokenizer.from_pretrained(folder)
    model = AutoModel.from_pretrained(folder, attn_implementation="eager", output_attentions=True)

    def run(text: str) -> tuple[Any, list[str]]:
        batch = words(text, return_tensors="pt")
        with torch.inference_mode():
            weights = model(**batch).attentions
        return weights, words.convert_ids_to_tokens(batch["input_ids"][0])

    return run


TOOLS = {
    "head_view": ("bertviz", bertviz),
    "model_view": ("bertviz", bertviz),
    "neuron_view": ("bertviz", neuron_view),
    "circuitsvis": ("circuitsvis", circuitsvis),
    "attnview": ("attnview", attnview),
}

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    tool, place, sentence, file = sys.argv[1:]
    distribution, prepare = TOOLS[tool]
    write = prepare(place, sentence, tool)
    write()  # the first call compiles and imports what later ones have
    start = time.perf_counter()
    Path(file).write_text(write(), encoding="utf-8")
    print(json.dumps({"version": version(distribution), "seconds": time.perf_counter() - start}))
