"""Decoding with a cache of keys and values gives what reading everything at each step gives."""

from pathlib import Path

import pytest
import torch

from model.adapters.huggingface.huggingface_adapter import HuggingFace
from model.adapters.requests.request import Decode, Patch, Request
from model.decode.decoding_steps import SearchStep
from model.trace.interventions import Cell, Intervention
from tests.model.opened_huggingface import opened

pytest.importorskip("transformers")

CACHED = ["gpt2", "opt", "llama", "mistral", "qwen3", "gemma2", "gemma3", "gpt-oss", "deepseek-v3"]
CACHED += ["neox", "t5", "bart", "marian", "m2m100", "t5gemma"]
TEXT = "The cat sat on the mat. A dog ran after"
OTHER = Request("the dog sat on a mat", decode=Decode(max_tokens=6))
PATCH = Patch(OTHER, ((1, 3), (2, 0), (3, 5), (4, 12)))
METHODS = [
    Decode(max_tokens=9),
    Decode("beam", beam=3, max_tokens=7),
    Decode("sample", seed=3, max_tokens=9),
]


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


@pytest.mark.parametrize("name", ["gpt2", "t5"])
def test_inference_mode_is_off_between_steps(folders: Path, name: str) -> None:
    """Else a stream that is left open leaves it on for whatever its thread does next."""
    steps = opened(folders / name).decode(Request(TEXT, decode=METHODS[0])).steps
    for _ in zip(range(3), steps, strict=False):
        assert not torch.is_inference_mode_enabled()


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
    own = f"{stack}.1.self"
    patched = [*(f"{one}.{part}" for one in (place, own) for part in ("k", "v", "mix"))]
    patched += [f"{stack}.0.ffn.residual", f"{adapter.info.attentions[-1].query}.embedding"]
    for made in (
        [Intervention(place, "zero", 1)],
        [Intervention(place, "set", 0, Cell(2, 1, 0.7, renormalise=True))],
        [Intervention(f"{stack}.1.self", "cut", 1, (2, 0))],
        [Intervention(text, "mask", value=1)],
        [Intervention(f"{stack}.0.ffn.residual", "drop")],
        *([Intervention(at, "patch", None, PATCH)] for at in patched),
    ):
        agree(adapter, Request(TEXT, decode=METHODS[0], interventions=tuple(made)))


@pytest.mark.parametrize("name", ["llama", "gpt2", "t5", "gemma3", "bart"])
def test_the_input_of_another_run_makes_it_that_run(folders: Path, name: str) -> None:
    """Of a stack that reads the text; and its last states give its logits."""
    adapter = opened(folders / name)
    mine, other = "the cat sat on a mat", "the mat sat on a cat"
    last = adapter.info.attentions[-1]
    logits = f"{last.stack}.logits"
    target = "a dog" if last.kind == "cross" else None
    theirs, plain = (
        adapter.trace(one, select=[logits], target=target)[logits].value for one in (other, mine)
    )
    patch = Patch(Request(other, target=target))
    found = [f"{adapter.info.texts[0]}.{part}" for part in ("embedding", "input")]
    found += [f"{last.stack}.norm"] if f"{last.stack}.norm" in adapter.names else []
    assert (plain - theirs).abs().max() > 1e-3
    for at in found:
        made = [Intervention(at, "patch", None, patch)]
        patched = adapter.trace(mine, select=[logits], interventions=made, target=target)
        torch.testing.assert_close(patched[logits].value, theirs, atol=1e-5, rtol=1e-4, msg=at)


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
