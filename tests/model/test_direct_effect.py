"""What a head writes: against contributions, which go the other way, and counted by hand."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor

from model.adapters.encoder_decoder.encoder_decoder_adapter import EncoderDecoder
from model.adapters.huggingface.huggingface_adapter import load_huggingface
from model.adapters.requests.adapter_interface import Adapter
from model.adapters.requests.trace import Trace
from model.bundle.weights import load_bundle, save_bundle
from model.corpus.row_index import read_survey
from model.explain.direct_effect import carried, reads
from model.measure.head_survey import HALF, LEAST, LOOKED_AT, RAISED, survey_heads
from model.text.tokens import Tokenizer
from model.trace.attentions import AttentionInfo
from model.transformer.config import ModelConfig
from model.transformer.stacks import Transformer
from tests.model.tiny_huggingface import make

SENTENCE = "A dog ran after the cat, and it didn't stop."
LINES = ["I know who she is.\t我知道她是谁。", "The cat sat.\t猫坐着。", "The cat ran.\t猫跑了。"]
LINES += ["A dog sat on the mat.\t一只狗坐在垫子上。", "I don't know the cat.\t我不知道那只猫。"]


def written(trace: Trace) -> list[int]:
    """Return the ids that rows predict, as far as the text has them."""
    if trace.written:
        return [token.id for token in trace.output.tokens]
    return [token.id for token in trace.texts["text"]][1:]


def effect(adapter: Adapter, trace: Trace, one: AttentionInfo, key: int, rows: int) -> Tensor:
    """Return the direct effect of one key's value on every logit (H, N, V), weight 1."""
    assert adapter.stream
    run = {name: trace[name].value for name in reads(adapter.stream, one)}
    keys = torch.full((one.heads, rows), key)
    term = carried(adapter.stream, one, run, keys, slice(rows))
    return term @ adapter.stream.matrix.detach().double().T * adapter.stream.scale


def traced(adapter: Adapter, sentence: str, *more: str) -> tuple[list[AttentionInfo], Trace]:
    assert adapter.stream
    ours = [one for one in adapter.info.attentions if one.stack == adapter.stream.stack]
    needed = {name for one in ours for name in reads(adapter.stream, one)}
    return ours, adapter.trace(sentence, select=[*needed, "*.weights", *more])


def hold(adapter: Adapter) -> None:
    """The effects of all keys, times their weights, sum to each head's contribution."""
    ours, trace = traced(adapter, SENTENCE, "inside.logit.*")
    ids = torch.tensor(written(trace))
    for one in ours:
        weights = trace[f"{one.place}.weights"].value.double()
        total = torch.zeros(one.heads, len(ids), dtype=torch.double)
        for key in range(weights.shape[-1]):
            logits = effect(adapter, trace, one, key, len(ids))
            total += weights[:, : len(ids), key] * logits[:, range(len(ids)), ids]
        expected = trace[f"inside.logit.{one.kind}"].value[one.layer, :, : len(ids)].double()
        atol = 1e-4 * float(expected.abs().max())
        torch.testing.assert_close(total, expected, atol=atol, rtol=1e-4)


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_all_keys_sum_to_the_contribution_of_their_head(
    norm: str, config: ModelConfig, tokenizer: Tokenizer, tmp_path: Path
) -> None:
    shape = replace(config, norm=norm)
    torch.manual_seed(1)
    save_bundle(tmp_path / "one", Transformer(shape).state_dict(), shape, tokenizer, "One")
    hold(EncoderDecoder(load_bundle(tmp_path / "one"), "one"))


# Grouped heads, sandwich norms, a sink, values of another width, RMSNorm, two texts.
@pytest.mark.parametrize(
    "name", ["gpt2", "llama", "gemma3", "gpt-oss", "deepseek-v3", "bart", "t5"]
)
def test_in_models_of_transformers_too(name: str, tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    hold(load_huggingface(make(name, tmp_path / name), "cpu", name))


def test_what_is_listed_is_what_rows_write_on_average(tiny: EncoderDecoder, tmp_path: Path) -> None:
    """Counted sentence by sentence, row by row; the survey runs them in one batch, padded."""
    told = survey_heads(tiny, LINES, tmp_path, title="Five")
    assert read_survey(tmp_path, tiny.info.digest) == json.loads(json.dumps(told))
    found: dict[tuple[str, int, str], list[Tensor]] = {}
    for line in LINES:
        english, chinese = line.split("\t")
        for text, direction, target in ((english, "en-zh", chinese), (chinese, "zh-en", english)):
            ours, trace = _given(tiny, text, direction, target)
            for one in ours:
                _count(tiny, trace, one, found)
    listed = 0
    for head in told["heads"]:
        mine = {
            token: torch.stack(rows).mean(0)
            for (place, number, token), rows in found.items()
            if (place, number) == (head["place"], head["head"]) and len(rows) >= LEAST
        }
        best = sorted(mine, key=lambda token: -float(mine[token].max()))[:LOOKED_AT]
        assert [one["token"] for one in head["writes"]] == best
        for one in head["writes"]:
            value, ids = mine[one["token"]].topk(RAISED)
            assert [tiny.token(int(id_)).text for id_ in ids] == [text for text, _ in one["adds"]]
            assert [each for _, each in one["adds"]] == pytest.approx(value.tolist(), abs=0.0051)
            assert one["rows"] == len(found[head["place"], head["head"], one["token"]])
            listed += 1
    assert listed >= 5
    assert not any(one["writes"] for one in told["heads"] if one["place"].startswith("encoder"))


def _given(
    adapter: EncoderDecoder, text: str, direction: str, target: str
) -> tuple[list[AttentionInfo], Trace]:
    ours, _ = traced(adapter, text)
    names = {name for one in ours for name in reads(adapter.stream, one)}
    select = [*names, "*.weights"]
    return ours, adapter.trace(text, direction=direction, target=target, select=select)


def _count(
    adapter: EncoderDecoder,
    trace: Trace,
    one: AttentionInfo,
    found: dict[tuple[str, int, str], list[Tensor]],
) -> None:
    weights, tokens = trace[f"{one.place}.weights"].value, trace.texts[one.key]
    rows = len(trace.output.tokens) if one.kind == "cross" else len(trace.texts[one.query])
    for key, token in enumerate(tokens):
        if token.special or not token.text.strip():
            continue
        logits = effect(adapter, trace, one, key, rows)
        for head in range(one.heads):
            for row in range(rows):
                if float(weights[head, row, key]) >= HALF:
                    relative = logits[head, row] - logits[head, row].mean()
                    found.setdefault((one.place, head, token.text), []).append(relative)
