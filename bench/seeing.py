"""The cost of seeing: a text to all its weights, q, k and v as bytes, over the plain forward pass.

    python -m bench.seeing data/models/smollm2 data/models/minilm

Every number is a ratio to the forward pass of the same model with torch's fused kernel ("sdpa"),
taken in turns in one run; the median of all turns. `output_attentions` is what `transformers`
returns with eager attention: weights as tensors, without q, k and v, and not as bytes.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import transformers

from app.engine.wire import trace_reply
from headlight import record, wrap
from model.adapters.huggingface.opening import open_folder
from model.adapters.request import Request

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
    fused, eager = (
        cls.from_pretrained(folder, attn_implementation=one, dtype=torch.float32).eval()
        for one in ("sdpa", "eager")
    )
    text = text_of(tokenizer, length)
    adapter = wrap(fused, tokenizer)
    given = tokenizer(text, return_tensors="pt")

    def plain(model: Any = fused, **options: Any) -> object:
        with torch.inference_mode():
            return model(**given, use_cache=False, **options)

    def as_bytes() -> object:
        trace = adapter.trace(Request(text, select=PARTS))
        return trace_reply(trace, "", adapter.info.id).safetensors()

    def recorded() -> object:
        with record(fused, PARTS) as made:
            plain()
        return made

    return {
        "forward (sdpa)": plain,
        "as bytes": as_bytes,
        "record": recorded,
        "output_attentions": lambda: plain(eager, output_attentions=True),
    }


def measure(timed: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Return the median seconds of each, taken in turns."""
    taken: dict[str, list[float]] = {name: [] for name in timed}
    for turn in range(TURNS + 1):
        for name, run in timed.items():
            begun = time.perf_counter()
            run()
            if turn:  # the first warms up
                taken[name].append(time.perf_counter() - begun)
    return {name: statistics.median(seconds) for name, seconds in taken.items()}


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    transformers.logging.set_verbosity_error()
    torch.set_num_threads(1)
    for folder in parser.parse_args().folders:
        for length in LENGTHS:
            config = transformers.AutoConfig.from_pretrained(folder)
            if length > config.max_position_embeddings:
                continue
            (_, base), *others = measure(ways(folder, length)).items()
            ratios = ", ".join(f"{name} {seconds / base:.2f}" for name, seconds in others)
            print(f"{folder.name}, {length} tokens: forward {base * 1e3:.0f} ms; {ratios}")


if __name__ == "__main__":
    main()
