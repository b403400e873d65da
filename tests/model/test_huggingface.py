"""Models of `transformers`, tiny and random, against their own eager attention.

Each is run here by the library itself, alone and without padding, and by the adapter in a batch
where one row is padded.
"""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from model.adapters.huggingface.huggingface_adapter import HuggingFace
from model.adapters.requests.request import Request
from model.adapters.requests.trace import Trace
from model.errors import InputError
from model.trace.attentions import CROSS
from model.trace.interventions import Cell, Intervention
from tests.model.opened_huggingface import opened
from tests.model.tiny_huggingface import TINY

hf: Any = pytest.importorskip("transformers")

LONG = "The cat sat on the mat. A dog ran after the cat, and it didn't stop."
SENTENCES = ["The cat", LONG]
# These do not use the attention interface.
EAGER = ["bloom", "falcon", "mpt", "gptj", "gpt-neo", "deberta-v2", "convbert", "mpnet"]
EAGER += ["fsmt", "led", "prophetnet"]
RECORDED = [name for name in TINY if name not in EAGER]
# These report weights in another form, which another test compares.
SAME_FORM = [name for name in TINY if name not in ("led", "prophetnet")]


def requests(adapter: HuggingFace, **options: Any) -> list[Request]:
    """Return requests for a short and a long sentence, with targets for encoder–decoders."""
    targets = ["A dog", "I don't know who she is."]
    if len(adapter.info.texts) == 1:
        targets = [None, None]  # type: ignore[list-item]
    logits = [name for name in adapter.names if name.endswith(".logits")]
    return [
        Request(source, target=target, select=("*", *logits), **options)
        for source, target in zip(SENTENCES, targets, strict=True)
    ]


@torch.inference_mode()
def eager(adapter: HuggingFace, folder: Path, trace: Trace) -> tuple[Tensor, dict[str, Tensor]]:
    """Return the library's own logits (N, V), and weights (H, N, M) by place."""
    class_ = getattr(hf, TINY[folder.name][0])
    model = class_.from_pretrained(folder, attn_implementation="eager").eval()
    ids = {
        name: torch.tensor([[token.id for token in tokens]]) for name, tokens in trace.texts.items()
    }
    if len(ids) == 1:
        out = model(input_ids=ids["text"], output_attentions=True, use_cache=False)
        found = {one.place: out.attentions[one.layer][0] for one in adapter.info.attentions}
        return out[0][0], found
    out = model(
        input_ids=ids["source"],
        decoder_input_ids=ids["target"],
        output_attentions=True,
        use_cache=False,
    )
    own = {"encoder": out.encoder_attentions, "decoder": out.decoder_attentions}
    found = {
        one.place: (out.cross_attentions if one.kind == CROSS else own[one.stack])[one.layer][0]
        for one in adapter.info.attentions
    }
    return out[0][0], found


@pytest.mark.parametrize("name", SAME_FORM)
def test_weights_and_logits_are_eagers(folders: Path, name: str) -> None:
    adapter = opened(folders / name)
    assert adapter.route == ("eager" if name in EAGER else "recorded")
    for trace in adapter.run(requests(adapter)):
        logits, weights = eager(adapter, folders / name, trace)
        assert weights.keys() == set(adapter.info.places)
        for place, expected in weights.items():
            torch.testing.assert_close(
                trace[f"{place}.weights"].value, expected, atol=1e-5, rtol=1e-4, msg=place
            )
        for written in (one for one in trace if one.endswith(".logits")):
            torch.testing.assert_close(trace[written].value, logits, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("name", ["led", "prophetnet"])
def test_weights_reported_in_another_form_are_weights(folders: Path, name: str) -> None:
    adapter = opened(folders / name)
    assert adapter.route == "eager"
    for trace in adapter.run(requests(adapter)):
        for place in adapter.info.places:
            weights = trace[f"{place}.weights"].value
            torch.testing.assert_close(weights.sum(-1), torch.ones(weights.shape[:-1]))
            assert (weights[:, ~trace[f"{place}.mask"].value] < 1e-6).all()


@pytest.mark.parametrize("name", ["bert", "gpt2", "mistral", "modernbert", "t5", "bloom", "led"])
def test_padding_and_batching_change_nothing(folders: Path, name: str) -> None:
    adapter = opened(folders / name)
    for request, together in zip(requests(adapter), adapter.run(requests(adapter)), strict=True):
        alone = adapter.trace(request)
        padded = adapter.trace(request, pad_to=60)
        for place in adapter.info.places:
            expected = alone[f"{place}.weights"].value
            found = padded[f"{place}.weights"].value
            torch.testing.assert_close(
                together[f"{place}.weights"].value, expected, atol=1e-5, rtol=1e-4
            )
            rows, keys = expected.shape[1:]
            torch.testing.assert_close(found[:, :rows, :keys], expected, atol=1e-5, rtol=1e-4)
            # Without a registered mask, there would be weight here.
            assert (found[:, :rows, keys:] == 0).all()


@pytest.mark.parametrize("name", RECORDED)
def test_weights_follow_from_what_is_recorded(folders: Path, name: str) -> None:
    adapter = opened(folders / name)
    trace = adapter.run(requests(adapter))[1]
    for one in adapter.info.attentions:
        at = {part: trace[f"{one.place}.{part}"] for part in ("q", "k", "v", "scores", "mix")}
        q, k, v, scores, mix = (tensor.value for tensor in at.values())
        assert (q.shape[0], k.shape[0], v.shape[0]) == (one.heads, one.kv_heads, one.kv_heads)
        assert at["k"].dims[0] == ("head" if one.heads == one.kv_heads else "kv_head")
        shared = [head * one.kv_heads // one.heads for head in range(one.heads)]
        weights, mask = trace[f"{one.place}.weights"].value, trace[f"{one.place}.mask"].value
        if one.scoring == "scaled-dot":
            expected = q @ k[shared].mT / q.shape[-1] ** 0.5
            torch.testing.assert_close(scores, expected, atol=1e-4, rtol=1e-4)
        sink = trace[f"{one.place}.sink"].value if f"{one.place}.sink" in trace else 0
        exps = (
            scores.masked_fill(~mask, -torch.inf).softmax(-1)
            * (1 - torch.as_tensor(sink))[..., None]
        )
        torch.testing.assert_close(weights, exps, atol=1e-5, rtol=1e-4)
        torch.testing.assert_close(mix, weights @ v[shared], atol=1e-5, rtol=1e-4)


def test_a_sink_takes_weight_and_is_no_token(folders: Path) -> None:
    adapter = opened(folders / "gpt-oss")
    trace = adapter.trace(LONG, select="*")
    sink = trace["decoder.0.self.sink"].value
    total = trace["decoder.0.self.weights"].value.sum(-1) + sink
    assert (sink > 0.01).any()
    torch.testing.assert_close(total, torch.ones_like(total))


def test_windows_are_named_and_kept(folders: Path) -> None:
    for name, window in (("mistral", 4), ("gemma3", 4), ("gpt-oss", 4), ("modernbert", 4)):
        adapter = opened(folders / name)
        trace = adapter.trace(LONG, select="*.mask")
        one = next(one for one in adapter.info.attentions if "window" in one.mask)
        assert one.mask == ("causal & window-4" if one.causal else "window-4")
        mask = trace[f"{one.place}.mask"].value
        away = torch.arange(len(mask))[:, None] - torch.arange(len(mask))
        expected = (away >= 0) & (away < window) if one.causal else away.abs() < window
        assert torch.equal(mask, expected)


def test_values_may_be_of_another_width(folders: Path) -> None:
    trace = opened(folders / "deepseek-v3").trace("The cat", select="*")
    assert trace["decoder.0.self.q"].shape[-1] == 12
    assert trace["decoder.0.self.v"].shape[-1] == trace["decoder.0.self.mix"].shape[-1] == 6


def test_concurrent_requests_do_not_interfere(folders: Path) -> None:
    adapter = opened(folders / "llama")
    asked = [
        Request(
            f"The cat {'sat ' * (index % 7 + 1)}",
            interventions=(Intervention("decoder.0.self", "zero", index % 4),) if index % 3 else (),
        )
        for index in range(48)
    ]
    alone = [adapter.trace(request) for request in asked]
    with ThreadPoolExecutor(8) as pool:
        batches = [asked[start : start + 6] for start in range(0, 48, 6)]
        found = [trace for batch in pool.map(adapter.run, batches) for trace in batch]
    for trace, expected in zip(found, alone, strict=True):
        for name in expected:
            torch.testing.assert_close(
                trace[name].value, expected[name].value, atol=1e-5, rtol=1e-4
            )


def test_interventions_act_where_they_are_aimed(folders: Path) -> None:
    adapter = opened(folders / "gpt2")
    logits = "decoder.logits"
    off = adapter.trace(
        LONG, select=logits, interventions=[Intervention("decoder.1.self", "zero", 2)]
    )
    with torch.inference_mode():  # by hand: the rows of W_O that read the head
        changed = opened(folders / "gpt2").model.transformer.h[1].attn.c_proj.weight.clone()
        changed[16:24] = 0
        model = hf.GPT2LMHeadModel.from_pretrained(folders / "gpt2").eval()
        model.transformer.h[1].attn.c_proj.weight.copy_(changed)
        ids = torch.tensor([[token.id for token in off.texts["text"]]])
        torch.testing.assert_close(off[logits].value, model(ids).logits[0], atol=1e-4, rtol=1e-4)
    place = "decoder.0.self"
    made = [
        Intervention(place, "cut", 1, (3, 2)),
        Intervention(place, "set", 0, Cell(3, 1, 0.5)),
        Intervention(place, "temperature", 3, 2.0),
        Intervention("text", "mask", value=0),
    ]
    plain, trace = (adapter.trace(LONG, select="*", interventions=one) for one in ([], made))
    weights = trace[f"{place}.weights"].value
    assert weights[1, 3, 2] == 0
    assert weights[0, 3, 1] == 0.5
    assert (weights[:, :, 0] == 0).all()
    cooled = (plain[f"{place}.scores"].value[3, 5, 1:6] / 2).softmax(-1)
    torch.testing.assert_close(weights[3, 5, 1:6], cooled, atol=1e-5, rtol=1e-4)


def test_what_cannot_be_changed_is_refused(folders: Path) -> None:
    adapter = opened(folders / "bloom")
    assert not any(one.qk for one in adapter.info.attentions)
    with pytest.raises(InputError, match="cannot be changed"):
        adapter.trace("The cat", interventions=[Intervention("decoder.0.self", "zero", 0)])
    with pytest.raises(InputError, match="names no tensor"):
        adapter.trace("The cat", select="decoder.0.self.q")
