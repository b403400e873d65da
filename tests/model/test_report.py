"""The report on heads: the loss without a head against an ablated model, nearest heads by hand."""

import json
import math
import shutil
from pathlib import Path

import pytest
import torch

from model.__main__ import main
from model.adapters.encoder_decoder.encoder_decoder_adapter import EncoderDecoder
from model.bundle.measurements import REPORT
from model.bundle.weights import load_bundle
from model.measure.heads import Instead, costs, divergences, examples_as_requests, watched
from model.measure.heads_report import page
from model.train.data import Corpus, both_ways
from model.train.loss import dev_loss

TEXTS = [("The cat sat.", "猫坐着。"), ("A dog barks at the cat.", "狗对猫叫。"), ("No.", "不。")]


def batches(adapter: EncoderDecoder) -> list:  # type: ignore[type-arg]
    examples = both_ways(TEXTS, ("en", "zh"))
    corpus = Corpus(examples, adapter.tokenizer, 64, torch.device("cpu"))
    return list(corpus.batches(60, 0, 0))


@pytest.mark.parametrize("attention", ["encoder.0.self", "decoder.1.self", "decoder.0.cross"])
def test_a_silent_head_is_a_model_without_its_columns(tiny: EncoderDecoder, attention: str) -> None:
    heads, d_k = tiny.model.config.heads, tiny.model.config.d_k
    found = {
        head: cost
        for _, head, cost in costs(tiny.model, batches(tiny), {attention: torch.zeros(heads, d_k)})
    }
    stack, layer, block = attention.split(".")
    parts = getattr(getattr(tiny.model, stack)[int(layer)], f"{block}_attention")
    whole = dev_loss(tiny.model, batches(tiny))
    kept = parts.W_o.weight.detach().clone()
    for head in range(heads):
        with torch.no_grad():
            parts.W_o.weight[:, head * d_k : (head + 1) * d_k] = 0
            without = dev_loss(tiny.model, batches(tiny))
            parts.W_o.weight.copy_(kept)
        assert found[head] == pytest.approx(without - whole, abs=1e-6)
        assert found[head] != 0


def test_a_head_says_something_else_everywhere(tiny: EncoderDecoder) -> None:
    """The replacement applies to all tokens, and other heads are unchanged."""
    seen = torch.randn(2, tiny.model.config.heads, 5, tiny.model.config.d_k)
    tap = Instead("encoder.1.self", 1, torch.full((tiny.model.config.d_k,), 7.0))
    found = tap.at("encoder").at("1").at("self")("mix", seen, ())
    assert (found[:, 1] == 7).all()
    assert torch.equal(found[:, 0], seen[:, 0])
    assert tap.at("encoder").at("0").at("self")("mix", seen, ()) is seen
    assert tap.at("encoder").at("1").at("self")("q", seen, ()) is seen


def test_divergence_by_hand() -> None:
    weights = torch.tensor([[[1.0, 0], [0.5, 0.5]], [[0.0, 1], [0.5, 0.5]], [[1.0, 0], [0.5, 0.5]]])
    half = math.log(2) / 2  # nothing in common in one row, alike in the other
    expected = torch.tensor([[0, half, 0], [half, 0, half], [0, half, 0]])
    torch.testing.assert_close(divergences(weights), expected)


def test_the_usual_name_is_counted_over_sentences(tiny: EncoderDecoder) -> None:
    """By the names that the API gives to each sentence."""
    requests = examples_as_requests([*TEXTS, ("She reads.", "她看书。")], ("en", "zh"))
    _, _, usual = watched(tiny, requests)
    seen = [tiny.trace(request, summarise=("*",)).summaries for request in requests]
    for (place, head), (name, share) in usual.items():
        names = [found[place].patterns[head] for found in seen]
        counts = {one: names.count(one) for one in names if one not in ("mixed", "none")}
        assert share == max(counts.values(), default=0) / len(requests)
        assert counts.get(name, 0) / len(requests) == share
    assert any(0 < share < 1 for _, share in usual.values())


def test_a_report_of_a_bundle(bundle: Path, tmp_path: Path) -> None:
    folder = tmp_path / "tiny"
    shutil.copytree(bundle, folder)
    data = tmp_path / "dev.tsv"
    data.write_text("".join(f"{a}\t{b}\n" for a, b in TEXTS), "utf-8")
    (tmp_path / "sentences.txt").write_text("猫 坐着 ||| the cat sits\n" * 4, "utf-8")
    (tmp_path / "gold.txt").write_text("1-2 2-3\n" * 4, "utf-8")
    with pytest.raises(ValueError, match="has no means"):
        main(["measure", "heads", str(folder), "--dev", str(data)])
    main(["measure", "mean-outputs", str(folder), "--train", str(data), "--pairs", "3"])
    main(["measure", "heads", str(folder), "--dev", str(data), "--align", str(tmp_path)])
    made = load_bundle(folder)
    report = json.loads((folder / REPORT).read_text())
    config = made.model.config
    assert report["digest"] == made.digest
    assert (
        len(report["heads"]) == (config.encoder_layers + 2 * config.decoder_layers) * config.heads
    )
    assert report["alignment"]["used"] == [2, 2]
    text = (folder / "REPORT.md").read_text()
    assert text == page(report)
    assert f"of {len(report['heads'])}** when zeroed" in text
    (folder / REPORT).write_text(json.dumps(report | {"digest": "other"}))
    with pytest.raises(ValueError, match="for other weights"):
        main(["measure", "heads", str(folder)])
