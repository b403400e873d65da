"""Lens, contributions and relevance of models of `transformers`, each computed in another way."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from model.adapters.requests.request import Request
from model.adapters.requests.trace import Trace
from model.errors import InputError
from model.trace.interventions import Cell, Intervention
from model.trace.tensor_names import ATTRIBUTIONS
from tests.model.opened_huggingface import opened
from tests.model.tiny_huggingface import TINY

hf: Any = pytest.importorskip("transformers")

LONG = "The cat sat on the mat. A dog ran after the cat, and it didn't stop."
# Logits are a sum with the norms held fixed.
EXACT = ["gpt2", "neox", "llama", "mistral", "qwen3", "gemma3", "gpt-oss", "deepseek-v3"]
EXACT += ["t5", "bart", "marian", "m2m100"]
# The output is not linear: a head of several layers, or a soft cap.
LENS = ["bert", "roberta", "modernbert", "gemma2", "t5gemma"]
TERMS = ("self", "cross", "ffn", "bias", "norm", "embedding", "position")


@torch.inference_mode()
def own(folder: Path, trace: Trace) -> tuple[Any, tuple[Tensor, ...], Tensor]:
    """The library's own model, its hidden states (N, D) after each layer, and its logits (N, V)."""
    class_ = getattr(hf, TINY[folder.name][0])
    model = class_.from_pretrained(folder, attn_implementation="eager").eval()
    ids = {
        name: torch.tensor([[token.id for token in tokens]]) for name, tokens in trace.texts.items()
    }
    options = {"output_hidden_states": True, "use_cache": False}
    if len(ids) == 1:
        out = model(input_ids=ids["text"], **options)
        states = out.hidden_states
    else:
        out = model(input_ids=ids["source"], decoder_input_ids=ids["target"], **options)
        states = out.decoder_hidden_states
    return model, tuple(one[0] for one in states), out.logits[0]


def predicted(trace: Trace, logits: Tensor) -> list[int]:
    """The ids that rows predict."""
    if trace.written:
        return [token.id for token in trace.output.tokens]
    ids = [token.id for token in trace.texts["text"]]
    kind = trace.model.kind
    return [*ids[1:], int(logits[-1].argmax())] if kind == "decoder" else ids


def lens_of(model: Any, name: str, state: Tensor) -> Any:
    """A layer's output through the end of the model, in the library's own code."""
    with torch.inference_mode():
        if name in ("bert", "roberta"):
            head = model.cls if name == "bert" else model.lm_head
            return head(state[None])[0]
        if name == "gpt2":
            return model.lm_head(model.transformer.ln_f(state))
        if name == "neox":
            return model.get_output_embeddings()(model.gpt_neox.final_layer_norm(state))
        if name == "t5":
            scale = model.model_dim**-0.5 if model.config.tie_word_embeddings else 1
            return model.lm_head(model.decoder.final_layer_norm(state) * scale)
        if name == "bart":
            return model.lm_head(state) + model.final_logits_bias[0]
        return model.lm_head(model.model.norm(state))


@pytest.mark.parametrize("name", ["gpt2", "neox", "llama", "qwen3", "gemma3", "t5", "bart", "bert"])
@pytest.mark.parametrize("text", ["cat", LONG])
def test_the_lens_reads_every_layer_as_the_library_would(
    folders: Path, name: str, text: str
) -> None:
    adapter = opened(folders / name)
    trace = adapter.trace(text, select=["inside.lens.*"])
    model, states, logits = own(folders / name, trace)
    ids = torch.tensor(predicted(trace, logits))
    lens = {
        part: trace[f"inside.lens.{part}"].value for part in ("probabilities", "written", "rank")
    }
    layers = len(lens["rank"])
    for layer in range(layers):
        # The library's last state has been through the norm already.
        found = logits if layer == layers - 1 else lens_of(model, name, states[layer + 1])
        chances = found.softmax(-1)
        best = chances.topk(10, dim=-1).values
        torch.testing.assert_close(lens["probabilities"][layer], best, atol=1e-5, rtol=1e-4)
        mine = chances[range(len(ids)), ids]
        torch.testing.assert_close(lens["written"][layer], mine, atol=1e-5, rtol=1e-4)
        ranks = 1 + (chances > mine[:, None]).sum(-1)
        assert (lens["rank"][layer] - ranks).abs().max() <= 1  # equal to rounding


def terms(trace: Trace, rows: int, prefix: str = "inside.logit") -> Tensor:
    """The sum of all contributions to each row's logit."""
    names = [f"{prefix}.{term}" for term in TERMS]
    found = [trace[name].value.double().reshape(-1, rows).sum(0) for name in names if name in trace]
    return torch.stack(found).sum(0)


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("text", ["cat", LONG])
def test_contributions_add_up_to_the_librarys_logit(folders: Path, name: str, text: str) -> None:
    adapter = opened(folders / name)
    assert {"lens", "contributions"} <= adapter.info.capabilities
    trace = adapter.trace(text, select=["inside.logit.*"])
    _, _, logits = own(folders / name, trace)
    ids = predicted(trace, logits)
    expected = logits[range(len(ids)), ids].double()
    atol = 1e-4 * float(expected.abs().max())
    torch.testing.assert_close(terms(trace, len(ids)), expected, atol=atol, rtol=1e-4)
    total = trace["inside.logit.total"].value.double()
    torch.testing.assert_close(total, expected, atol=atol, rtol=1e-4)


@pytest.mark.parametrize("name", EXACT)
def test_contrasts_add_up_to_the_librarys_log_odds(folders: Path, name: str) -> None:
    adapter = opened(folders / name)
    prefix = "inside.contrast.runner-up"
    trace = adapter.trace(LONG, select=[f"{prefix}.*"])
    _, _, logits = own(folders / name, trace)
    ids = torch.tensor(predicted(trace, logits))[:, None]
    chosen = logits.gather(1, ids)[:, 0]
    best = logits.scatter(1, ids, -torch.inf).max(dim=-1).values
    against = logits.gather(1, trace[f"{prefix}.candidates"].value[:, None].long())[:, 0]
    torch.testing.assert_close(against, best, atol=1e-5, rtol=1e-5)
    expected = (chosen - best).double()
    atol = 1e-4 * float(logits.abs().max())
    torch.testing.assert_close(terms(trace, len(ids), prefix), expected, atol=atol, rtol=1e-4)
    for found in (trace[f"{prefix}.total"].value, trace[f"{prefix}.lens"].value[-1]):
        torch.testing.assert_close(found.double(), expected, atol=atol, rtol=1e-4)


@pytest.mark.parametrize("name", LENS)
def test_without_a_sum_a_contrast_is_only_read(folders: Path, name: str) -> None:
    trace = opened(folders / name).trace("The cat sat", select=["inside.contrast.5.*"])
    assert {one.rpartition(".")[2] for one in trace} == {"lens", "candidates"}


def test_a_heads_contribution_is_what_it_adds_through_the_fixed_norm(folders: Path) -> None:
    adapter = opened(folders / "llama")
    trace = adapter.trace(LONG, select=["inside.logit.*", "*.mix", "*.residual"])
    model, _, logits = own(folders / "llama", trace)
    ids = predicted(trace, logits)
    last = trace["decoder.1.ffn.residual"].value.double()
    eps = model.config.rms_norm_eps
    sigma = (last.square().mean(-1, keepdim=True) + eps).sqrt()
    for layer in range(2):
        mix = trace[f"decoder.{layer}.self.mix"].value.double()
        matrix = model.model.layers[layer].self_attn.o_proj.weight.double()  # (D, H · d)
        for head in range(4):
            added = mix[head] @ matrix[:, head * 8 : head * 8 + 8].T  # (N, D)
            read = added / sigma * model.model.norm.weight.double()
            expected = (read * model.lm_head.weight.double()[ids]).sum(-1)
            found = trace["inside.logit.self"].value[layer, head].double()
            torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("name", ["llama", "gemma3", "gpt2", "bart", "t5"])
def test_the_sum_holds_with_interventions(folders: Path, name: str) -> None:
    adapter = opened(folders / name)
    stack = adapter.info.attentions[-1].stack
    for made in (
        [Intervention(f"{stack}.0.self", "zero", 1)],
        [Intervention(f"{stack}.1.ffn.residual", "drop")],
        [Intervention(f"{stack}.0.self.residual", "drop")],
    ):
        select = ["inside.logit.*", f"{stack}.logits"]
        trace = adapter.trace(LONG, select=select, interventions=made)
        logits = trace[f"{stack}.logits"].value
        ids = predicted(trace, logits)
        expected = logits[range(len(ids)), ids].double()
        atol = 1e-3 * float(expected.abs().max())
        torch.testing.assert_close(terms(trace, len(ids)), expected, atol=atol, rtol=1e-3)


def test_a_dropped_residual_leaves_the_sublayer_alone(folders: Path) -> None:
    adapter = opened(folders / "llama")
    made = [Intervention("decoder.1.ffn.residual", "drop")]
    select = ["decoder.1.ffn.*", "decoder.logits"]
    trace = adapter.trace(LONG, select=select, interventions=made)
    model, _, _ = own(folders / "llama", trace)
    alone = trace["decoder.1.ffn.output"].value
    torch.testing.assert_close(trace["decoder.1.ffn.residual"].value, alone)
    with torch.inference_mode():
        expected = model.lm_head(model.model.norm(alone))
    torch.testing.assert_close(trace["decoder.logits"].value, expected, atol=1e-3, rtol=1e-3)


@pytest.mark.parametrize("name", ["llama", "gpt2", "gemma3", "bert", "t5", "m2m100"])
def test_streams_are_those_of_the_library(folders: Path, name: str) -> None:
    adapter = opened(folders / name)
    trace = adapter.trace(LONG, select="*")
    _, states, _ = own(folders / name, trace)
    last = adapter.info.attentions[-1]
    text, stack = last.query, last.stack
    part = "norm" if adapter.info.norm == "post" else "residual"
    torch.testing.assert_close(trace[f"{text}.input"].value, states[0], atol=1e-5, rtol=1e-4)
    for layer in range(last.layer):  # the library's last one has been through the norm
        found = trace[f"{stack}.{layer}.ffn.{part}"].value
        torch.testing.assert_close(found, states[layer + 1], atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("name", LENS)
def test_what_is_no_sum_is_not_offered(folders: Path, name: str) -> None:
    adapter = opened(folders / name)
    assert "lens" in adapter.info.capabilities
    assert "contributions" not in adapter.info.capabilities
    with pytest.raises(InputError, match="contributions"):
        adapter.trace("cat", select=["inside.logit.*"])


@pytest.mark.parametrize("name", ["bloom", "albert", "opt"])
def test_a_model_whose_stream_is_unknown_offers_none_of_it(folders: Path, name: str) -> None:
    able = opened(folders / name).info.capabilities
    assert not {"lens", "contributions"} & able


@pytest.mark.parametrize("name", ["llama", "t5"])
def test_relevance_is_a_slope(folders: Path, name: str) -> None:
    """Against differences: the log-probability with one weight a little larger and smaller."""
    adapter = opened(folders / name)
    place = adapter.info.attentions[-1].place
    target = None if name == "llama" else "A dog"
    asked = Request(
        "The cat sat", target=target, select=(f"inside.relevance.{place}", f"{place}.weights")
    )
    trace = adapter.trace(asked)
    relevance, weights = trace[f"inside.relevance.{place}"].value, trace[f"{place}.weights"].value
    logits = next(one for one in adapter.names if one.endswith(".logits"))
    plain = adapter.trace(asked, select=logits)
    ids = predicted(plain, plain[logits].value)

    def score(value: float) -> float:
        made = [Intervention(place, "set", 1, Cell(1, 0, value))]
        changed = adapter.trace(asked, select=logits, interventions=made)[logits].value
        chosen = changed.double().log_softmax(-1)[range(len(ids)), ids]
        return float(chosen.sum())

    weight, step = float(weights[1, 1, 0]), 1e-2
    slope = (score(weight + step) - score(weight - step)) / (2 * step)
    assert float(relevance[1, 1, 0]) == pytest.approx(slope * weight, rel=2e-2, abs=1e-4)


@pytest.mark.parametrize("name", ["llama", "t5", "bert"])
def test_padding_and_company_change_nothing(folders: Path, name: str) -> None:
    adapter = opened(folders / name)
    inside = {one for one in adapter.selectable if one.startswith("inside.")}
    select = tuple(sorted(inside - ATTRIBUTIONS))  # those have tests of their own
    asked = [Request("The cat", select=select), Request(LONG, select=select)]
    for request, together in zip(asked, adapter.run(asked), strict=True):
        alone, padded = adapter.trace(request), adapter.trace(request, pad_to=60)
        for one in (together, padded):
            rank = one["inside.lens.rank"].value
            rows = alone["inside.lens.rank"].value.shape[1]
            assert torch.equal(rank[:, :rows], alone["inside.lens.rank"].value)
            assert not rank[:, rows:].any()
            chances = one["inside.lens.written"].value[:, :rows]
            expected = alone["inside.lens.written"].value
            torch.testing.assert_close(chances, expected, atol=1e-5, rtol=1e-3)
