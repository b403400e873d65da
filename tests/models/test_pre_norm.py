"""A pre-norm bundle over HTTP: served like any other."""

import json
from collections.abc import AsyncIterator

import httpx
import numpy as np
import pytest
import torch

from app.engine.model_catalog import Catalog
from model.bundle.weights import save_bundle
from model.text.tokens import Tokenizer
from model.transformer.config import ModelConfig
from model.transformer.stacks import Transformer
from tests.model.conftest import TEXTS
from tests.serving.fixtures import Serving

NORMS = ["post", "pre"]


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    """Two models of the same size, with post-norm and pre-norm."""
    tokenizer = Tokenizer.train(TEXTS * 3, vocabulary=400)
    folder = tmp_path_factory.mktemp("bundles")
    for norm in NORMS:
        torch.manual_seed(0)
        config = ModelConfig(len(tokenizer), 32, 4, 64, 2, 2, max_tokens=48, norm=norm)
        weights = Transformer(config).state_dict()
        save_bundle(folder / norm, weights, config, tokenizer, f"{norm}-norm")
    return Catalog.load({norm: str(folder / norm) for norm in NORMS}, "cpu")


@pytest.fixture
async def client(serving: Serving, bundles: Catalog) -> AsyncIterator[httpx.AsyncClient]:
    async with serving(catalog=bundles) as client:
        yield client


async def test_it_says_where_its_norms_are(client: httpx.AsyncClient) -> None:
    post, pre = (await client.get("/api/models")).json()
    assert post["capabilities"] == pre["capabilities"]
    assert (post["norm"], pre["norm"]) == ("post", "pre")
    assert pre["attentions"] == post["attentions"]


async def test_it_is_traced_and_decoded(client: httpx.AsyncClient, bundles: Catalog) -> None:
    asked = {"source": "The cat sat.", "model": "pre", "select": ["*.weights", "inside.*"]}
    document = (await client.post("/api/trace", json=asked)).json()
    trace = bundles["pre"].trace("The cat sat.", select=["*.weights", "inside.*"])
    assert document["tensors"].keys() == set(trace)
    for name in ("encoder.1.self.weights", "inside.logit.total"):
        found = np.array(document["tensors"][name]["data"], np.float32)
        np.testing.assert_allclose(found, np.asarray(trace[name]), atol=1e-4)
    reply = await client.post("/api/decode", json={"source": "The cat sat.", "model": "pre"})
    *_, end = (json.loads(line) for line in reply.text.splitlines())
    assert end["end"]["output"]["text"] == document["output"]["text"]
    swept = await client.post("/api/sweep", json={"source": "The cat sat.", "model": "pre"})
    assert swept.text.endswith('{"end":{}}\n')


async def test_its_last_norms_are_among_its_parameters(client: httpx.AsyncClient) -> None:
    path = "/api/models/{}/parameters?select=encoder.gain,decoder.bias"
    found = (await client.get(path.format("pre"))).json()["tensors"]
    assert {name: tensor["shape"] for name, tensor in found.items()} == {
        "encoder.gain": [32],
        "decoder.bias": [32],
    }
    assert (await client.get(path.format("post"))).status_code == 422
