"""Decoding with a cache of keys and values gives what reading everything at each step gives."""

from functools import cache
from pathlib import Path

import pytest
import torch

from model.adapters.huggingface.adapter import HuggingFace, load_huggingface
from model.adapters.request import Decode, Request
from model.decode.steps import SearchStep
from model.trace.interventions import Cell, Intervention
from tests.model.tiny_huggingface import make

pytest.importorskip("transformers")

CACHED = ["gpt2", "opt", "llama", "mistral", "qwen3", "gemma2", "gemma3", "gpt-oss", "deepseek-v3"]
CACHED += ["neox", "t5", "bart", "marian", "m2m100", "t5gemma"]
TEXT = "The cat sat on the mat. A dog ran after"
METHODS = [
    Decode(max_tokens=9),
    Decode("beam", beam=3, max_tokens=7),
    Decode("sample", seed=3, max_tokens=9),
]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hf")


@cache
def opened(folder: Path) -> HuggingFace:
    return load_huggingface(make(folder.name, folder), "cpu", folder.name)


def steps(adapter: HuggingFace, request: Request, cached: bool) -> list[SearchStep]:
    before, adapter.steps.cached = adapter.steps.cached, cached
    try:
        return list(adapter.decode(request).steps)
    finally:
        adapter.steps.cached = before


def agree(adapter: HuggingFace, request: Request) -> None:
    found, expected = (steps(adapter, request, cached) for cached in (True, False))
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert one.written[0].ids == other.written[0].ids
        torch.testing.assert_close(one.logprobs, other.logprobs, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("name", CACHED)
@pytest.mark.parametrize("decode", METHODS, ids=lambda one: str(one.method))
def test_steps_are_the_same_with_and_without(folders: Path, name: str, decode: Decode) -> None:
    adapter = opened(folders / name)
    assert adapter.steps.cached
    agree(adapter, Request(TEXT, decode=decode))


@pytest.mark.parametrize("name", ["llama", "gpt2", "t5", "gemma3"])
def test_interventions_act_on_every_step(folders: Path, name: str) -> None:
    adapter = opened(folders / name)
    place, text = adapter.info.attentions[-1].place, adapter.info.texts[0]
    stack = adapter.info.attentions[-1].stack
    for made in (
        [Intervention(place, "zero", 1)],
        [Intervention(place, "set", 0, Cell(2, 1, 0.7, renormalise=True))],
        [Intervention(f"{stack}.1.self", "cut", 1, (2, 0))],
        [Intervention(text, "mask", value=1)],
        [Intervention(f"{stack}.0.ffn.residual", "drop")],
    ):
        agree(adapter, Request(TEXT, decode=METHODS[0], interventions=tuple(made)))


def test_without_a_cache_that_works_everything_is_read_again(folders: Path) -> None:
    adapter = opened(folders / "bloom")
    assert not adapter.steps.cached
    assert list(adapter.decode(Request(TEXT, decode=METHODS[0])).steps)


def test_the_trace_of_a_target_is_what_was_written(folders: Path) -> None:
    adapter = opened(folders / "t5")
    *_, last = adapter.decode(TEXT).steps
    trace = adapter.trace(TEXT)
    assert tuple(token.id for token in trace.output.tokens) == last.written[0].ids
    total = torch.tensor(trace.output.logprobs).sum()
    torch.testing.assert_close(float(total), last.written[0].logprob, atol=1e-3, rtol=1e-4)
