"""The cost of seeing: a text to all its weights, q, k and v as bytes, over the plain forward pass.

    python -m bench.trace_cost data/models/smollm2 data/models/minilm

The bytes are the pieces of a safetensors file, as they are sent. Every number is a ratio to the
forward pass of the same model with torch's fused kernel ("sdpa"), taken in turns in one run; the
median of all turns. `output_attentions` is what `transformers` returns with eager attention:
weights as tensors, without q, k and v, and not as bytes. Other libraries are measured if they can
be imported: `pip install transformer-lens nnsight`, in an environment of its own, since they bring
some thirty packages.
"""

from __future__ import annotations

import argparse
import statistics
import time
import warnings
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
import transformers

from app.engine.engine_process import keep_freed
from app.engine.reply_formats import trace_reply
from app.settings import Settings
from headlight import record, wrap
from model.adapters.huggingface.open_folder import open_folder
from model.adapters.requests.request import Request

Run = Callable[[], object]

HOOKS = ("hook_pattern", "hook_rot_q", "hook_rot_k", "hook_v")


def peers(folder: Path, load: Callable[[], Any], tokenizer: Any, inputs: Any) -> dict[str, Run]:
    """Return what is timed, by name; a library that does not open the model is named and left out.

    `load` returns the model with eager attention, which both libraries need to see weights.
    """
    runs: dict[str, Run] = {}
    for name, make in (("TransformerLens", _lens), ("nnsight", _nnsight)):
        try:
            runs[name] = make(folder, load(), tokenizer, inputs)
            runs[name]()
        except Exception as error:
            runs.pop(name, None)
            print(f"{name} does not run {folder.name}: {type(error).__name__}: {error}")
    return runs


def _lens(folder: Path, model: Any, tokenizer: Any, inputs: Any) -> Run:
    bridge: Any = import_module("transformer_lens").TransformerBridge
    bridged = bridge.boot_transformers(
        str(folder), hf_model=model, tokenizer=tokenizer, device="cpu", dtype=torch.float32
    )

    def run() -> object:
        with torch.inference_mode():
            return bridged.run_with_cache(
                inputs.input_ids, names_filter=lambda name: name.endswith(HOOKS)
            )

    return run


def _nnsight(_: Path, model: Any, __: Any, inputs: Any) -> Run:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # names of modules that it uses itself
        traced: Any = import_module("nnsight").NNsight(model)
    decoder = hasattr(model, "model")
    layers = traced.model.layers if decoder else traced.encoder.layer
    attentions = [layer.self_attn if decoder else layer.attention.self for layer in layers]
    names = ("q_proj", "k_proj", "v_proj") if decoder else ("query", "key", "value")

    def run() -> object:
        saved = []
        with torch.inference_mode(), traced.trace(**inputs, use_cache=False):
            for attention in attentions:
                for name in names:
                    saved.append(getattr(attention, name).output.save())
                saved.append(attention.output[1].save())
        return saved

    return run


LENGTHS = (128, 512, 1024)  # tokens

PARTS = ("*.weights", "*.q", "*.k", "*.v")

TURNS = 7

WORDS = "The animal did not cross the street because it was too tired to go on . "


def text_of(tokenizer: Any, length: int) -> str:
    """Return a text of about `length` tokens, at most."""
    words: list[str] = (WORDS * length).split()
    low, high = 1, len(words)
    while low < high:
        middle = (low + high + 1) // 2
        fits = len(tokenizer(" ".join(words[:middle])).input_ids) <= length
        low, high = (middle, high) if fits else (low, middle - 1)
    return " ".join(words[:low])


def ways(folder: Path, length: int) -> dict[str, Callable[[], object]]:
    """Return what is timed, by name; the plain forward pass first."""
    opened = open_folder(folder, "cpu")
    tokenizer, cls = opened.tokenizer, type(opened.model)

    def load(implementation: str = "eager") -> Any:
        kind = {"attn_implementation": implementation, "dtype": torch.float32}
        return cls.from_pretrained(folder, **kind).eval()

    fused, eager = load("sdpa"), load()
    text = text_of(tokenizer, length)
    adapter = wrap(fused, tokenizer)
    inputs = tokenizer(text, return_tensors="pt")

    def plain(model: Any = fused, **options: Any) -> object:
        with torch.inference_mode():
            return model(**inputs, use_cache=False, **options)

    def as_bytes() -> object:
        trace = adapter.trace(Request(text, select=PARTS))
        return trace_reply(trace, "", adapter.info.id).pieces()

    def recorded() -> object:
        with record(fused, PARTS) as recording:
            plain()
        return recording

    return {
        "forward (sdpa)": plain,
        "as bytes": as_bytes,
        "record": recorded,
        "output_attentions": lambda: plain(eager, output_attentions=True),
        **peers(folder, load, tokenizer, inputs),
    }


def measure(timed: dict[str, Callable[[], object]], turns: int) -> dict[str, float]:
    """Return the median seconds of each, taken in turns."""
    seconds_by_name: dict[str, list[float]] = {name: [] for name in timed}
    for turn in range(turns + 1):
        for name, run in timed.items():
            begun = time.perf_counter()
            run()
            if turn:  # the first warms up
                seconds_by_name[name].append(time.perf_counter() - begun)
    return {name: statistics.median(seconds) for name, seconds in seconds_by_name.items()}


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--lengths", nargs="+", type=int, default=LENGTHS, help="tokens")
    parser.add_argument("--turns", type=int, default=TURNS)
    transformers.logging.set_verbosity_error()
    torch.set_num_threads(1)
    keep_freed(Settings().max_free_bytes)  # as an engine process; the plain pass gains from it too
    options = parser.parse_args()
    for folder in options.folders:
        for length in options.lengths:
            config = transformers.AutoConfig.from_pretrained(folder)
            if length > config.max_position_embeddings:
                continue
            (_, base), *measured = measure(ways(folder, length), options.turns).items()
            ratios = ", ".join(f"{name} {seconds / base:.2f}" for name, seconds in measured)
            print(f"{folder.name}, {length} tokens: forward {base * 1e3:.0f} ms; {ratios}")


if __name__ == "__main__":
    main()
