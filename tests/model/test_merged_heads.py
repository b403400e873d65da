"""Encoder heads merged in pairs."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from model.__main__ import main
from model.adapters.encoder_decoder.encoder_decoder_adapter import EncoderDecoder, load
from model.adapters.requests.request import Request
from model.bundle.measurements import save
from model.bundle.weights import CHECKPOINTS, load_bundle, save_bundle
from model.errors import FileError
from model.measure.attention_history import watch
from model.measure.heads import batches_of
from model.text.tokens import Tokenizer
from model.transformer.attention import MultiHeadAttention
from model.transformer.config import ModelConfig
from model.transformer.stacks import Transformer
from tests.model.numpy_reference import NumpyTransformer
from tests.model.test_numpy_reference import answered, apart, witnessed

COSTS = [[0.3, 0.1, 0.2, 0.4], [-0.1, 0.3, 0.2, 0.0]]
# Of each layer, by the costs above: the costliest with the one that costs least, then the others.
PAIRS = [[(3, 1), (0, 2)], [(1, 0), (2, 3)]]
SELECT = ("encoder.*", "decoder.logits")
TEXTS = ["The cat sat on the mat.", "A dog.", "我不知道她是谁。"]


def written(folder: Path, model: Transformer, config: ModelConfig, tokenizer: Tokenizer) -> Path:
    """Save a bundle, with a report that has the costs above."""
    save_bundle(folder, model.state_dict(), config, tokenizer, "Four", torch.float32)
    heads = [
        {"attention": f"encoder.{layer}.self", "head": head, "zero": cost}
        for layer, costs in enumerate(COSTS)
        for head, cost in enumerate(costs)
    ]
    told = {"digest": load_bundle(folder).digest, "heads": heads, "alignment": None}
    (folder / "report.json").write_text(json.dumps(told))
    (folder / "training.json").write_text('{"step": 12}')
    return folder


@pytest.fixture(params=[True, False], ids=["bias", "no-bias"])
def random_model(config: ModelConfig, request: pytest.FixtureRequest) -> Transformer:
    torch.manual_seed(0)
    model = Transformer(replace(config, bias=request.param)).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.dim() == 1 and not name.endswith("W_k.bias"):
                parameter.add_(torch.randn_like(parameter) * 0.1)
    return model


def merged(folder: Path, out: Path) -> EncoderDecoder:
    main(["merge-heads", str(out), str(folder)])
    return load(out, id_="two")


def test_patterns_of_the_costly_and_values_of_both(
    random_model: Transformer, tokenizer: Tokenizer, tmp_path: Path
) -> None:
    folder = written(tmp_path / "four", random_model, random_model.config, tokenizer)
    four, two = load(folder, id_="four"), merged(folder, tmp_path / "two")
    assert two.model.config == replace(random_model.config, encoder_heads=2)
    assert (tmp_path / "two" / "training.json").read_text() == '{"step": 12}'
    for text in TEXTS:
        old, new = (one.trace(Request(text, select=SELECT)) for one in (four, two))
        place = "encoder.0.self"
        for head, (kept, other) in enumerate(PAIRS[0]):
            weights = old[f"{place}.weights"].value[kept]
            torch.testing.assert_close(new[f"{place}.weights"].value[head], weights)
            values = torch.cat([old[f"{place}.v"].value[one] for one in (kept, other)], dim=-1)
            torch.testing.assert_close(new[f"{place}.mix"].value[head], weights @ values)


def test_nothing_is_lost_between_heads_with_the_same_pattern(
    random_model: Transformer, tokenizer: Tokenizer, tmp_path: Path
) -> None:
    with torch.no_grad():
        parts = random_model.encoder.modules()
        attentions = [part for part in parts if isinstance(part, MultiHeadAttention)]
        for attention, pairs in zip(attentions, PAIRS, strict=True):
            for projection in (attention.W_q, attention.W_k):
                for part in (projection.weight, projection.bias):
                    for kept, other in pairs if part is not None else ():
                        part[other * 8 : other * 8 + 8] = part[kept * 8 : kept * 8 + 8]
    folder = written(tmp_path / "four", random_model, random_model.config, tokenizer)
    four, two = load(folder, id_="four"), merged(folder, tmp_path / "two")
    requests = [Request(text, target="猫", select=SELECT) for text in TEXTS]
    for old, new in zip(four.run(requests), two.run(requests), strict=True):
        for name in ("encoder.1.ffn.norm", "decoder.logits"):
            torch.testing.assert_close(old[name].value, new[name].value, rtol=1e-4, atol=1e-4)


def test_the_shipped_model_merged_agrees_with_numpy(tmp_path: Path) -> None:
    main(["merge-heads", str(tmp_path / "merged"), str(CHECKPOINTS / "en-zh")])
    adapter = EncoderDecoder(load_bundle(tmp_path / "merged"), "merged")
    select = ("*", "decoder.logits")
    requests = [Request(text, select=select) for text in TEXTS]
    witness = NumpyTransformer(tmp_path / "merged")
    for trace in answered(adapter, requests):
        assert apart(trace, witnessed(witness, trace)) == set()


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"encoder_heads": 1}, "1 encoder heads cannot be merged in pairs"),
        ({"positions": "rotary"}, "positions rotary cannot be merged: their scores depend on d_k"),
        ({"scoring": "additive"}, "scoring additive and positions sinusoidal cannot be merged"),
        ({"positions": "relative"}, "positions relative cannot be merged"),
    ],
)
def test_what_cannot_be_merged_is_refused(
    config: ModelConfig,
    tokenizer: Tokenizer,
    tmp_path: Path,
    changed: dict[str, object],
    said: str,
) -> None:
    made = replace(config, **changed)  # type: ignore[arg-type]
    folder = written(tmp_path / "four", Transformer(made), made, tokenizer)
    with pytest.raises(ValueError, match=said):
        main(["merge-heads", str(tmp_path / "two"), str(folder)])
    assert not (tmp_path / "two").exists()


def test_the_history_has_the_heads_that_keep_their_pattern(
    random_model: Transformer, tokenizer: Tokenizer, tmp_path: Path
) -> None:
    folder = written(tmp_path / "four", random_model, random_model.config, tokenizer)
    bundle = load_bundle(folder)
    state = random_model.state_dict()
    requests = [Request("A dog.", "en-zh", target="猫")]
    watched = watch(bundle, {4: state, 9: state}, requests, [], batches_of(bundle, [("A", "猫")]))
    save(watched, folder / "learning.safetensors")
    learning = merged(folder, tmp_path / "two").learning
    assert learning is not None
    old, new = watched.of(0), learning.of(0)
    assert {*new} == {*old}
    for step in (4, 9):
        for layer, pairs in enumerate(PAIRS):
            name = f"{step}.encoder.{layer}.self.weights"
            assert new[name].equal(old[name][[kept for kept, _ in pairs]])
        for place in ("decoder.0.self", "decoder.1.cross"):
            assert new[f"{step}.{place}.weights"].equal(old[f"{step}.{place}.weights"])


def test_a_report_of_its_own_is_needed(
    config: ModelConfig, tokenizer: Tokenizer, tmp_path: Path
) -> None:
    folder = written(tmp_path / "four", Transformer(config), config, tokenizer)
    command = ["merge-heads", str(tmp_path / "two"), str(folder)]
    (folder / "report.json").write_text('{"digest": "other", "heads": []}')
    with pytest.raises(ValueError, match=r"report.json.*measure heads"):
        main(command)
    (folder / "report.json").unlink()
    with pytest.raises(FileError, match=r"report.json"):
        main(command)
