"""A server with its models in a cluster gives the same replies as one with its own models."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from tests.scale.cluster import run
from tests.servers import AppServer


def lines(url: str, path: str, body: dict[str, Any]) -> list[Any]:
    with httpx.stream("POST", f"{url}{path}", json=body, timeout=60, trust_env=False) as reply:
        return [json.loads(line) for line in reply.iter_lines()]


def test_the_answers_are_the_same(
    cluster: str, launch: Callable[..., AppServer], live_server: AppServer
) -> None:
    """Traces in batches, streams line by line, bad input, and what the models are."""
    served = launch(ray_address=cluster)
    texts = ["The cat sat.", "A dog ran after the bird.", "She is reading a book."]
    for text in texts:
        body = {"source": text, "select": ["*.weights"]}
        there, here = (
            httpx.post(f"{one.url}/api/trace", json=body, timeout=60, trust_env=False)
            for one in (served, live_server)
        )
        assert there.status_code == 200, there.text
        assert there.json()["output"]["text"] == here.json()["output"]["text"]
        assert there.json()["tokens"] == here.json()["tokens"]
        for name, tensor in here.json()["tensors"].items():
            close = np.array(there.json()["tensors"][name]["data"])
            assert np.allclose(close, np.array(tensor["data"]), atol=1e-4), name
    for path in ("/api/decode", "/api/sweep"):
        body = {"source": "The cat sat on the mat."}
        there_lines, here_lines = (lines(one.url, path, body) for one in (served, live_server))
        assert len(there_lines) == len(here_lines) > 2
        assert [sorted(line) for line in there_lines] == [sorted(line) for line in here_lines]
    bad = httpx.post(f"{served.url}/api/trace", json={"source": " "}, timeout=60, trust_env=False)
    assert bad.status_code == 422
    models = [
        httpx.get(f"{one.url}/api/models", trust_env=False).json() for one in (served, live_server)
    ]
    assert models[0] == models[1]
    ready = httpx.get(f"{served.url}/api/ready", timeout=60, trust_env=False)
    assert ready.json() == {"status": "ready"}


@pytest.mark.parametrize(
    ("address", "models", "told"),
    [
        (None, "en-zh,nothing=there", "the cluster has no application 'nothing'"),
        ("127.0.0.1:1", "en-zh", "there is no cluster at 127.0.0.1:1"),
    ],
)
def test_what_is_not_there_is_told_at_the_start(
    cluster: str, tmp_path: Path, address: str | None, models: str, told: str
) -> None:
    settings = {"data_dir": str(tmp_path), "models": models}
    ended = run(["-m", "app"], {}, address or cluster, **settings)
    assert ended.returncode == 2
    assert f"HEADLIGHT_MODELS, HEADLIGHT_RAY_ADDRESS: {told}" in ended.stderr
