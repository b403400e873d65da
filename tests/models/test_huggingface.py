"""Models of `transformers` over HTTP, from a folder on the disk."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from app.engine.model_catalog import Catalog
from app.settings import Settings
from model.adapters import open_model
from tests.model.tiny_huggingface import make
from tests.serving.fixtures import Serving

pytest.importorskip("transformers")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("models")
    for name in ("gpt2", "bert", "bloom", "bart"):
        make(name, root / name)
    told = {"name": "Tiny GPT-2", "prompts": ["The cat sat on"]}
    (root / "gpt2" / "headlight.json").write_text(json.dumps(told))
    return root


@pytest.fixture(scope="module")
def small(folder: Path) -> Catalog:
    return Catalog.load({path.name: f"hf:{path}" for path in sorted(folder.iterdir())}, "cpu", 4)


@pytest.fixture
async def client(serving: Serving, small: Catalog) -> AsyncIterator[httpx.AsyncClient]:
    async with serving(catalog=small) as client:
        yield client


def test_the_setting_names_them() -> None:
    settings = Settings(models="en-zh, bert=hf:/models/bert,gpt=hf:relative")
    assert settings.bundles == {
        "en-zh": "en-zh",
        "bert": "hf:/models/bert",
        "gpt": "hf:relative",
    }


async def test_each_describes_itself(client: httpx.AsyncClient) -> None:
    models = {one["id"]: one for one in (await client.get("/api/models")).json()}
    kinds = {name: one["kind"] for name, one in models.items()}
    assert kinds == {
        "bart": "encoder-decoder",
        "bert": "encoder",
        "bloom": "decoder",
        "gpt2": "decoder",
    }
    assert (models["gpt2"]["name"], models["gpt2"]["prompts"]) == ("Tiny GPT-2", ["The cat sat on"])
    assert {one["qk"] for one in models["gpt2"]["attentions"]} == {True}
    assert {one["qk"] for one in models["bloom"]["attentions"]} == {False}


async def test_a_trace_is_answered(client: httpx.AsyncClient) -> None:
    asked = {"text": "The cat sat", "model": "gpt2", "select": ["*"]}
    found = (await client.post("/api/trace", json=asked)).json()
    assert [one["text"] for one in found["tokens"]["text"]] == ["The", " cat", " sat"]
    weights = np.array(found["tensors"]["decoder.1.self.weights"]["data"])
    np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-5)
    assert (np.triu(weights, 1) == 0).all()


async def test_a_mask_is_filled_in(client: httpx.AsyncClient) -> None:
    asked = {"text": "The cat [MASK]", "model": "bert", "select": ["encoder.candidates"]}
    found = (await client.post("/api/trace", json=asked)).json()
    mask = next(i for i, one in enumerate(found["tokens"]["text"]) if one["text"] == "[MASK]")
    assert found["tokens"]["text"][mask] | {"id": 0} == {
        "text": "[MASK]",
        "id": 0,
        "start": 8,
        "end": 14,
        "special": True,
        "template": False,
        "pair": False,
    }
    ids = found["tensors"]["encoder.candidates"]["data"][mask]
    assert {str(id_) for id_ in ids} <= found["pieces"].keys()


async def test_a_text_is_continued(client: httpx.AsyncClient) -> None:
    asked = {"text": "The cat", "model": "gpt2", "decode": {"max_tokens": 3}}
    lines = (await client.post("/api/decode", json=asked)).text.splitlines()
    assert len(json.loads(lines[-1])["end"]["output"]["tokens"]) <= 3


@pytest.mark.parametrize(
    ("body", "kind", "says"),
    [
        ({"text": "The cat " * 40, "model": "gpt2"}, "text-too-long", "reads at most 64"),
        ({"text": " ", "model": "bert"}, "empty-text", "text is empty"),
        (
            {"text": "The cat", "model": "gpt2", "chat": True},
            "unsupported",
            "chat: this model has no chat template, because its tokenizer has none",
        ),
        (
            {"text": "The cat", "model": "gpt2", "pair": "a dog"},
            "unsupported",
            "pair: this model reads no pair of texts, because it is a decoder",
        ),
        ({"text": "a", "model": "bert", "pair": ""}, "empty-text", "pair is empty"),
        ({"text": "a " * 40, "model": "bert", "pair": "a " * 40}, "text-too-long", "64 together"),
        ({"text": "a", "model": "bert", "pair": "a" * 9000}, "text-too-long", "pair has 9000"),
        (
            {
                "text": "The cat",
                "model": "bloom",
                "interventions": [{"at": "decoder.0.self", "head": 0, "do": "zero"}],
            },
            "unsupported",
            "cannot be changed",
        ),
    ],
)
async def test_bad_input_is_named(
    client: httpx.AsyncClient, body: dict[str, Any], kind: str, says: str
) -> None:
    response = await client.post("/api/trace", json=body)
    assert response.status_code == 422
    assert response.json()["type"].endswith(kind)
    assert says in response.json()["detail"]


@pytest.mark.parametrize("name", ["gpt2", "bloom", "bert"])
async def test_a_share_of_it_is_kept(client: httpx.AsyncClient, name: str) -> None:
    made = await client.post("/api/shares", json={"state": {"text": "The cat sat", "model": name}})
    assert made.status_code == 201, made.text
    kept = (await client.get(f"/api/shares/{made.json()['id']}")).json()
    has_q = any(tensor.endswith(".q") for tensor in kept["trace"]["tensors"])
    assert has_q == (name != "bloom")


async def test_two_texts_are_read_and_shared(client: httpx.AsyncClient) -> None:
    state = {"text": "a cat", "pair": "the cat sat", "model": "bert"}
    reply = (await client.post("/api/trace", json=state)).json()
    tokens = reply["tokens"]["text"]
    assert [token["text"].strip() for token in tokens if not token["special"]] == [
        *("a", "cat", "the", "cat", "sat")
    ] or sum(token["pair"] for token in tokens) > 4
    weights = reply["tensors"]["encoder.0.self.weights"]
    assert weights["shape"][1:] == [len(tokens)] * 2
    assert [token["pair"] for token in tokens] == sorted(token["pair"] for token in tokens)
    made = await client.post("/api/shares", json={"state": state})
    assert made.status_code == 201, made.text
    kept = (await client.get(f"/api/shares/{made.json()['id']}")).json()
    assert kept["state"]["pair"] == "the cat sat"
    assert kept["trace"]["tokens"]["text"] == tokens
    alone = (await client.post("/api/trace", json={**state, "pair": None})).json()
    assert len(alone["tokens"]["text"]) < len(tokens)
    assert alone["id"] != reply["id"]


async def test_another_sentence_stands_before_the_same_second_text(
    client: httpx.AsyncClient,
) -> None:
    state = {"text": "a cat", "pair": "the cat sat", "model": "bert", "select": ["encoder.1.*"]}
    patch = {"at": "encoder.0.self.output", "do": {"patch": {"source": "a cat"}}}
    plain = (await client.post("/api/trace", json=state)).json()["tensors"]
    patched = await client.post("/api/trace", json={**state, "interventions": [patch]})
    assert patched.status_code == 200, patched.text
    for name, tensor in patched.json()["tensors"].items():
        assert np.allclose(tensor["data"], plain[name]["data"], atol=1e-5)


async def test_a_long_pair_is_read(client: httpx.AsyncClient) -> None:
    state = {"text": "a cat", "pair": "the cat sat", "model": "bert", "select": []}
    reply = await client.post("/api/overview", json=state)
    assert reply.status_code == 200, reply.text
    tokens = reply.json()["tokens"]["text"]
    assert tokens == (await client.post("/api/trace", json=state)).json()["tokens"]["text"]


async def test_a_share_keeps_a_continuation(client: httpx.AsyncClient) -> None:
    state = {"text": "The cat sat", "model": "gpt2", "decode": {"max_tokens": 4}}
    made = await client.post("/api/shares", json={"state": state})
    assert made.status_code == 201, made.text
    kept = (await client.get(f"/api/shares/{made.json()['id']}")).json()["trace"]
    asked = {**state, "select": []}
    found = (await client.post("/api/trace", json=asked)).json()
    assert kept["output"]["tokens"] == found["output"]["tokens"]
    assert kept["tokens"] == found["tokens"]
    read = len(found["tokens"]["text"])
    assert found["output"]["continues"] == read - 4 + found["output"]["finished"]


async def test_every_head_of_a_decoder_is_ablated(client: httpx.AsyncClient) -> None:
    asked = {"text": "The cat sat", "model": "gpt2"}
    lines = [
        json.loads(line) for line in (await client.post("/api/sweep", json=asked)).text.splitlines()
    ]
    start, heads = lines[0]["start"], [one for line in lines for one in line.get("changes", [])]
    assert len(heads) == start["changes"] == 8
    assert all(len(one["delta"]) == len(start["logprobs"]) for one in heads)
    assert len({tuple(one["delta"]) for one in heads}) == 8
    assert len(start["logprobs"]) == len(start["tokens"]["text"])


def test_a_pickle_is_never_opened(folder: Path, tmp_path: Path) -> None:
    bad = tmp_path / "pickled"
    bad.mkdir()
    for one in (folder / "gpt2").iterdir():
        if one.suffix == ".safetensors":
            (bad / "pytorch_model.bin").write_bytes(b"not opened")
        else:
            (bad / one.name).write_bytes(one.read_bytes())
    with pytest.raises(ValueError, match=r"pytorch_model.bin, but no \*.safetensors"):
        open_model.open_model(f"hf:{bad}", "cpu")


def test_code_of_its_own_is_never_run(folder: Path, tmp_path: Path) -> None:
    bad, ran = tmp_path / "remote", tmp_path / "ran"
    bad.mkdir()
    for one in (folder / "gpt2").iterdir():
        (bad / one.name).write_bytes(one.read_bytes())
    config = json.loads((bad / "config.json").read_text())
    config |= {"model_type": "own", "auto_map": {"AutoConfig": "own.Config"}}
    (bad / "config.json").write_text(json.dumps(config))
    (bad / "own.py").write_text(f"open({str(ran)!r}, 'w')")
    with pytest.raises(ValueError, match=r"own code \(auto_map\) is never run"):
        open_model.open_model(f"hf:{bad}", "cpu")
    assert not ran.exists()


def test_without_the_library_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_model, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match="make hf"):
        open_model.open_model("hf:/models/bert", "cpu")
