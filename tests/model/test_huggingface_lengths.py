"""Models of `transformers` at many lengths, without a registered mask, and with changed heads."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from torch import Tensor

pytest.importorskip("transformers")

import transformers
from transformers import AttentionInterface, AttentionMaskInterface

from model.adapters.huggingface import recorded_attention
from model.adapters.huggingface.huggingface_adapter import HuggingFace, load_huggingface
from model.adapters.requests.request import Request
from model.adapters.requests.trace import Trace
from model.adapters.sweep import sweep
from model.trace.attentions import CROSS
from model.trace.interventions import Intervention
from tests.model.opened_huggingface import opened
from tests.model.tiny_huggingface import TINY, make

LENGTHS = [1, 2, 3, 5, 8, 13, 21, 34, 55, 63, 64]
MOST = 64  # the models' maximum; T5 has none of its own


def close(found: Tensor, expected: Tensor, atol: float = 1e-5) -> None:
    torch.testing.assert_close(found, expected, atol=atol, rtol=10 * atol)


def of_length(adapter: HuggingFace, length: int) -> str | None:
    """Return a text of exactly so many tokens; None if there is none, such as [CLS] [SEP]."""
    lines = ("the cat sat on a mat, ", "a b c d e f g h ", "xyz")
    texts = (line * length for line in lines)
    starts = (text[:end] for text in texts for end in range(1, 3 * length + 1))
    return next((one for one in starts if len(adapter.text.encode(one)) == length), None)


@torch.inference_mode()
def eager(adapter: HuggingFace, trace: Trace, folder: Path) -> dict[str, Tensor]:
    """Return the weights (H, N, M) of the library's own attention, by place, and its logits."""
    class_ = getattr(transformers, TINY[folder.name][0])
    model = class_.from_pretrained(folder, attn_implementation="eager").eval()
    ids = {
        name: torch.tensor([[token.id for token in tokens]]) for name, tokens in trace.texts.items()
    }
    options = {"output_attentions": True, "use_cache": False}
    if "text" in ids:
        out = model(input_ids=ids["text"], **options)
        found = {one.place: out.attentions[one.layer][0] for one in adapter.info.attentions}
    else:
        out = model(input_ids=ids["source"], decoder_input_ids=ids["target"], **options)
        own = {"encoder": out.encoder_attentions, "decoder": out.decoder_attentions}
        found = {
            one.place: (out.cross_attentions if one.kind == CROSS else own[one.stack])[one.layer][0]
            for one in adapter.info.attentions
        }
    return {f"{place}.weights": weights for place, weights in found.items()} | {
        f"{adapter.info.attentions[-1].stack}.logits": out.logits[0]
    }


@pytest.mark.parametrize("name", ["llama", "bert", "t5", "mistral"])
def test_every_length_is_eagers(folders: Path, name: str) -> None:
    adapter = opened(folders / name)
    assert adapter.info.max_tokens >= MOST
    texts = {length: of_length(adapter, length) for length in LENGTHS}
    known = {length: text for length, text in texts.items() if text}
    assert {*LENGTHS[2:]} <= known.keys()
    two = len(adapter.info.texts) == 2
    logits = f"{adapter.info.attentions[-1].stack}.logits"
    # The target is as long as another source, so that both sides vary.
    targets = list(known.values())[::-1] if two else [None] * len(known)
    asked = [
        Request(text, target=target, select=("*.weights", logits))
        for text, target in zip(known.values(), targets, strict=True)
    ]
    for request, length, together in zip(asked, known, adapter.run(asked), strict=True):
        alone = adapter.trace(request)
        assert len(alone.texts[adapter.info.texts[0]]) == length
        for part, expected in eager(adapter, alone, folders / name).items():
            atol = 1e-4 if part == logits else 1e-5
            close(alone[part].value, expected, atol)
            close(together[part].value, expected, atol)


@pytest.fixture
def maskless(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Register `attend` but no mask, as a careless adapter would."""
    AttentionMaskInterface._global_mapping.pop(recorded_attention.IMPLEMENTATION, None)
    monkeypatch.setattr(
        recorded_attention,
        "register",
        lambda: AttentionInterface.register(
            recorded_attention.IMPLEMENTATION, recorded_attention.attend
        ),
    )
    yield
    monkeypatch.undo()
    recorded_attention.register()


@pytest.mark.parametrize("name", ["bert", "llama", "t5", "mistral"])
def test_without_a_mask_nothing_is_recorded_and_nothing_leaks(
    tmp_path: Path, maskless: None, name: str
) -> None:
    """The probe finds the difference and takes eager weights, which see no padding."""
    adapter = load_huggingface(make(name, tmp_path / name), "cpu")
    assert adapter.route != "recorded"
    target = "a dog" if len(adapter.info.texts) == 2 else None
    trace = adapter.trace(Request("the cat", target=target, pad_to=12, select=("*.weights",)))
    own = len(adapter.text.encode("the cat"))
    read = adapter.info.texts[0]
    for one in adapter.info.attentions:
        if one.key == read:
            assert (trace[f"{one.place}.weights"].value[..., :own, own:] == 0).all()


FROZEN = [("llama", "decoder.1.self"), ("t5", "encoder.1.self"), ("t5", "decoder.1.cross")]


@pytest.mark.parametrize(("name", "place"), FROZEN)
def test_a_frozen_head_is_the_same_alone_padded_and_beside_others(
    folders: Path, name: str, place: str
) -> None:
    adapter = opened(folders / name)
    targets = ("a dog", "the dog") if len(adapter.info.texts) == 2 else (None, None)
    sentence, other = Request("the cat sat", target=targets[0]), Request("a cat", target=targets[1])
    weights, logits = f"{place}.weights", f"{adapter.info.attentions[-1].stack}.logits"
    made = (Intervention(place, "freeze", 1, sentence),)
    asked = Request("a cat ran on", target=targets[1], select=(weights, logits), interventions=made)
    alone = adapter.trace(asked)
    pattern = adapter.trace(sentence, select=weights)[weights].value[1]
    rows, keys = (min(pair) for pair in zip(pattern.shape, alone[weights].shape[1:], strict=True))
    found = alone[weights].value[1, :rows, :keys]
    close(found, pattern[:rows, :keys])
    plain = adapter.trace(asked, interventions=())
    assert (alone[logits].value - plain[logits].value).abs().max() > 1e-3
    beside = adapter.run([other, asked, Request("the dog ran " * 4, target=targets[0]), asked])
    for trace in (beside[1], beside[3], adapter.trace(asked, pad_to=30)):
        for part in (weights, logits):
            expected = alone[part].value
            cut = tuple(slice(size) for size in expected.shape)
            close(trace[part].value[cut], expected, 1e-4)


def test_a_sweep_is_each_head_alone(folders: Path) -> None:
    """A sweep ablates several heads in a batch; here each is ablated in a request of its own."""
    adapter = opened(folders / "t5")
    request = Request("the cat sat on the mat", target="a dog ran")
    swept = sweep(adapter, request)
    before = torch.tensor(adapter.trace(request).output.logprobs)
    found = [one for batch in swept.batches for one in batch]
    assert len(found) == sum(one.heads for one in adapter.info.attentions)
    for one in found:
        off = (Intervention(one.at, "zero", one.head),)
        for pad_to in (None, 20):
            after = adapter.trace(request, interventions=off, pad_to=pad_to).output
            expected = torch.tensor(after.logprobs) - before
            close(torch.tensor(one.delta), expected, 1e-4)
    assert max(abs(delta) for one in found for delta in one.delta) > 1e-2


def test_heads_of_a_decoder_can_be_ablated_in_one_batch(folders: Path) -> None:
    adapter = opened(folders / "llama")
    made = [
        Request(
            "the cat " * (1 + head),
            select=("decoder.logits",),
            interventions=(Intervention(one.place, "zero", head),),
        )
        for one in adapter.info.attentions
        for head in range(one.heads)
    ]
    for request, trace in zip(made, adapter.run(made), strict=True):
        expected = adapter.trace(request)["decoder.logits"].value
        close(trace["decoder.logits"].value, expected, 1e-4)
        plain = adapter.trace(request, interventions=())["decoder.logits"].value
        assert (plain - expected).abs().max() > 1e-3
