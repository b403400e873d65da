"""`python -m bench.long`: memory and time of attention over a long text.

    in one process   a forward pass that keeps q, k and log-sum-exp, beside plain SDPA, and all
                     overviews beside that pass, of a random model in the shape of SmolLM2
    over HTTP        every head's overview and windows of single heads, of random models in the
                     shape of BERT-base and GPT-2, and the memory of the server's processes

`--model PATH` adds a real one: how exact its weights are in 16 bits, and a text of its full length.
"""

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import torch
import transformers

from app.engine.reply_formats import Reply
from bench.__main__ import machine
from bench.compare import timed
from model.adapters.huggingface import recorded_attention
from model.adapters.huggingface.attention_probing import probe
from model.adapters.huggingface.forward_passes import LongForward
from model.adapters.huggingface.huggingface_adapter import load_huggingface
from model.adapters.requests.request import Request
from model.long.long_attention import LongAttention, overview
from tests.model.tiny_tokenizers import tokenizer
from tests.servers import AppServer, running_app
from tests.soak.memory import family

WORDS = (Path(__file__).parents[1] / "docs" / "trace.md").read_text()
OCTETS = {"Accept": "application/octet-stream"}
SMOLLM2 = {
    "hidden_size": 576,
    "intermediate_size": 1536,
    "num_hidden_layers": 30,
    "num_attention_heads": 9,
    "num_key_value_heads": 3,
    "max_position_embeddings": 8192,
}
BASE = {"vocab_size": 30_522, "max_position_embeddings": 4_096}


def forward(length: int, rounds: int) -> None:
    """Print the ratios of the forward pass to plain SDPA, and of the overviews to the pass."""
    torch.manual_seed(0)
    recorded_attention.register()
    model = transformers.LlamaModel(transformers.LlamaConfig(vocab_size=1_000, **SMOLLM2)).eval()
    ids = torch.randint(5, 1_000, (1, length))
    long = LongForward(model, probe(model))
    attentions: dict[str, LongAttention] = {}

    def plain() -> None:
        model.set_attn_implementation("sdpa")
        model(input_ids=ids, use_cache=False)

    def keeping() -> None:
        model.set_attn_implementation(recorded_attention.IMPLEMENTATION)
        attentions.update(long.read(ids, torch.int16)[0])

    def pictures() -> None:
        for long_attention in attentions.values():
            overview(long_attention, 256)

    ways = plain, keeping, pictures
    with torch.inference_mode():
        times = [[timed(way) for way in ways] for _ in range(rounds + 1)][1:]  # the first warms up
    sdpa, passing, seeing = map(list, zip(*times, strict=True))
    mib = sum(long_attention.bytes for long_attention in attentions.values()) / 2**20
    length_described = f"{length:,} tokens, 270 heads"
    _row(f"{length_described}: keeping q, k and sums ({mib:.0f} MiB) / plain SDPA", passing, sdpa)
    _row(f"{length_described}: every overview at 256² / the pass that keeps", seeing, passing)


def _row(name: str, first: list[float], second: list[float]) -> None:
    ratios = sorted(
        seconds / base_seconds for seconds, base_seconds in zip(first, second, strict=True)
    )
    print(
        f"| {name} | {statistics.median(first):.2f} s | {statistics.median(second):.2f} s "
        f"| **{statistics.median(ratios):.2f}** ({ratios[0]:.2f} to {ratios[-1]:.2f}) |",
        flush=True,
    )


def random_model(kind: str, folder: Path) -> Path:
    """Write a random model of 12 layers and 12 heads that reads 4,096 tokens."""
    torch.manual_seed(0)
    if kind == "bert":
        model: Any = transformers.BertModel(transformers.BertConfig(**BASE))
        words = tokenizer("wordpiece")
    else:
        config = transformers.GPT2Config(vocab_size=BASE["vocab_size"], n_positions=4_096)
        model, words = transformers.GPT2LMHeadModel(config), tokenizer("bytes")
    model.save_pretrained(folder)
    words.save_pretrained(folder)
    return folder


@contextmanager
def serving(models: str) -> Iterator[tuple[AppServer, httpx.Client]]:
    """Run a server with these models and nothing else."""
    settings = {"models": models, "zoo": "0", "work_per_second": "1e9", "max_work": "1e9"}
    with (
        tempfile.TemporaryDirectory() as data,
        running_app(Path(data), settings) as server,
        httpx.Client(base_url=server.url, timeout=600, headers=OCTETS) as client,
    ):
        yield server, client


class Reading:
    """A text of some tokens, which is sent to a server repeatedly."""

    def __init__(self, client: httpx.Client, model: str, tokens: int) -> None:
        self.client = client
        self.model = model
        self.text = self._of(tokens)

    def _of(self, tokens: int) -> str:
        """Return the longest text within the server's and the model's limits and these tokens."""
        text = WORDS * 10
        while (reply := self._asked(text)).status_code != 200:
            text = text[: reply.json()["fits"]]
        tokens_read = Reply.parse(reply.content).document["tokens"]["text"]
        return text if len(tokens_read) <= tokens else text[: tokens_read[tokens - 3]["end"]]

    def _asked(self, text: str) -> httpx.Response:
        body = {"text": text, "model": self.model, "select": []}
        return self.client.post("/api/overview", json=body)

    def body(self, **fields: Any) -> dict[str, Any]:
        return {"text": self.text, "model": self.model, **fields}

    def send(self, path: str, **fields: Any) -> tuple[float, Reply]:
        """Return the seconds until the reply, and the reply."""
        start = time.perf_counter()
        reply = self.client.post(f"/api/{path}", json=self.body(**fields))
        seconds = time.perf_counter() - start
        assert reply.status_code == 200, reply.text
        return seconds, Reply.parse(reply.content)


def peak(server: AppServer) -> int:
    """Return the peak memory of a server's processes; mapped files are counted once."""
    total = 0
    for process in family(server.process.pid):
        status = Path(f"/proc/{process}/status").read_text().splitlines()
        amounts = {
            name: amount.split()[0]
            for name, _, amount in (line.partition(":") for line in status)
            if name in ("VmHWM", "RssFile", "RssShmem")
        }
        total += int(amounts["VmHWM"]) - int(amounts["RssFile"])
    return total * 1024


def windows(tokens: int, count: int, heads: int = 12) -> Iterator[dict[str, Any]]:
    """Yield windows of a user who zooms and pans: from the whole map to single weights."""
    drawn = random.Random(0)
    for index in range(count):
        side = min(tokens, 256 * 2 ** (index % 5))
        first, second = (drawn.randrange(tokens - side + 1) for _ in range(2))
        yield {
            "head": drawn.randrange(heads),
            "query": [first, first + side],
            "key": [second, second + side],
            "cells": [256, 256] if side < tokens else [512, 512],
        }
        token = drawn.randrange(tokens)
        yield {"head": drawn.randrange(heads), "query": [token, token + 1]}


def over_http(kind: str, tokens: int, tiles: int) -> None:
    """Print the response times of a server with one model, and the memory of its processes."""
    with tempfile.TemporaryDirectory() as folder:
        path = random_model(kind, Path(folder))
        with serving(f"{kind}=hf:{path}") as (server, client):
            reading = Reading(client, kind, tokens)
            first, reply = reading.send("overview", cells=64, select=["*.0.self"])
            read = len(reply.document["tokens"]["text"])
            seconds, reply = reading.send("overview", cells=256)
            size = sum(array.nbytes for array in reply.arrays.values())
            drawn = random.Random(1)
            stack = "encoder" if kind == "bert" else "decoder"
            times = [
                reading.send("tile", at=f"{stack}.{drawn.randrange(12)}.self", **window)[0]
                for window in windows(read, tiles)
            ]
            memory = peak(server)
    tenths = statistics.quantiles(times, n=20)
    print(
        f"| {kind}, {read:,} tokens, 12 × 12 heads | {first:.1f} s | {seconds:.1f} s "
        f"({size / 1e6:.1f} MB) | {statistics.median(times) * 1e3:.0f} ms "
        f"| {tenths[-1] * 1e3:.0f} ms | {memory / 1e9:.2f} GB |",
        flush=True,
    )


def exact(folder: Path) -> None:
    """Print the differences between weights of 16 bits and those of a trace, for 900 tokens."""
    adapter = load_huggingface(folder, "cpu")
    text = WORDS[:3_000]
    with torch.inference_mode():
        trace = adapter.trace(text)
        for dtype in (torch.float32, torch.int16):
            long_pass = adapter.long(Request(text), dtype)
            largest, relative = 0.0, list[torch.Tensor]()
            for place, long_attention in long_pass.attentions.items():
                heads, n, m = long_attention.shape
                for head in range(heads):
                    weights = long_attention.head(head).weights(slice(0, n), slice(0, m))
                    expected = trace[f"{place}.weights"].value[head]
                    largest = max(largest, float((weights - expected).abs().max()))
                    not_tiny = expected > 1e-6
                    relative.append(((weights - expected).abs() / expected)[not_tiny])
            together = torch.cat(relative)
            worst = float(together.max())
            middle = float(together.square().mean().sqrt())
            print(
                f"{folder.name}, {n} tokens, {dtype}: weights differ by at most {largest:.1e}; "
                f"relative, of those above 1e-6: {worst:.2%} at most, {middle:.3%} root mean square"
            )


def full(folder: Path) -> None:
    """Print time and memory for a text of a model's full length."""
    with serving(f"real=hf:{folder}") as (server, client):
        reading = Reading(client, "real", 1_000_000)
        first, reply = reading.send("overview", cells=64)
        read = len(reply.document["tokens"]["text"])
        name, about = next(iter(reply.document["tensors"].items()))
        looks = windows(read, 20, about["shape"][0])
        place = name.removesuffix(".weights.max")
        times = [reading.send("tile", at=place, **fields)[0] for fields in looks]
        memory = peak(server)
    print(
        f"{folder.name}, {read:,} tokens: the first overview of all heads at 64² after "
        f"{first:.0f} s, a window of one head in {statistics.median(times) * 1e3:.0f} ms "
        f"(p95 {statistics.quantiles(times, n=20)[-1] * 1e3:.0f} ms), {memory / 1e9:.2f} GB"
    )


def main() -> None:
    """Measure and print as Markdown."""
    parser = argparse.ArgumentParser(prog="python -m bench.long", description=__doc__)
    parser.add_argument("--threads", type=int, default=1, help="threads of PyTorch here (1)")
    parser.add_argument("--tokens", type=int, default=4_096)
    parser.add_argument("--rounds", type=int, default=3, help="of each ratio (3)")
    parser.add_argument("--tiles", type=int, default=60, help="looks at windows (60)")
    parser.add_argument("--model", type=Path, help="folder of a real model of transformers")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    print(machine())
    print("\n| What: first / second | first | second | first / second (least to most) |")
    print("|---|--:|--:|--:|")
    forward(options.tokens, options.rounds)
    print("\n| Over HTTP | first look | all heads at 256² | a window, p50 | p95 | peak memory |")
    print("|---|--:|--:|--:|--:|--:|")
    for kind in ("bert", "gpt2"):
        over_http(kind, options.tokens, options.tiles)
    if options.model:
        print()
        exact(options.model)
        full(options.model)


if __name__ == "__main__":
    main()
