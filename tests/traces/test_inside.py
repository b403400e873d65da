"""The `inside` tensors, over HTTP and in a share."""

from typing import Any

import httpx
import numpy as np

from app.engine.reply_formats import Reply

SENTENCE = {"source": "The cat sat.", "target": "猫坐着。"}
PARTS = ("self", "cross", "ffn", "bias", "norm", "embedding", "position")


async def test_both_forms_carry_it_with_the_words_of_its_ids(client: httpx.AsyncClient) -> None:
    asked: dict[str, Any] = {**SENTENCE, "select": ["inside.*", "decoder.logits"]}
    said = (await client.post("/api/trace", json=asked)).raise_for_status().json()
    binary = {"Accept": "application/octet-stream"}
    file = (await client.post("/api/trace", json=asked, headers=binary)).raise_for_status()
    reply = Reply.parse(file.content)
    assert set(reply.arrays) == set(said["tensors"])
    for name, array in reply.arrays.items():
        told = said["tensors"][name]
        assert told["shape"] == list(array.shape)
        np.testing.assert_allclose(np.array(told["data"], dtype=float), array, atol=1e-6)
    tensors = (f"inside.{name}.candidates" for name in ("lens", "nearest"))
    ids = [np.array(said["tensors"][name]["data"]).ravel() for name in tensors]
    assert set(said["pieces"]) == {str(id_) for id_ in np.concatenate(ids)}
    assert reply.document["pieces"] == said["pieces"]
    written = [token["id"] for token in said["output"]["tokens"]]
    rows = [reply.arrays[f"inside.logit.{part}"].reshape(-1, len(written)) for part in PARTS]
    logits = reply.arrays["decoder.logits"][range(len(written)), written]
    np.testing.assert_allclose(np.concatenate(rows).sum(axis=0), logits, atol=1e-4)


def test_padding_has_no_numbers(reader: httpx.Client) -> None:
    asked = {**SENTENCE, "pad_to": 12, "select": ["inside.logit.total", "inside.lens.rank"]}
    said = reader.post("/api/trace", json=asked).raise_for_status().json()
    count = len(said["output"]["tokens"])
    totals = said["tensors"]["inside.logit.total"]["data"]
    assert None not in totals[:count]
    assert set(totals[count:]) == {None}
    for ranks in said["tensors"]["inside.lens.rank"]["data"]:
        assert set(ranks[count:]) == {0}
        assert min(ranks[:count]) >= 1


def test_the_wildcard_does_not_select_it(reader: httpx.Client) -> None:
    said = reader.post("/api/trace", json={**SENTENCE, "select": ["*"]}).json()
    assert not [name for name in said["tensors"] if name.startswith("inside")]


def test_a_share_keeps_it(reader: httpx.Client) -> None:
    made = reader.post("/api/shares", json={"state": SENTENCE, "select": ["inside.lens.*"]})
    share = reader.get(f"/api/shares/{made.json()['id']}").json()
    kept = share["trace"]
    asked = {**SENTENCE, "select": ["inside.lens.*"]}
    fresh = reader.post("/api/trace", json=asked).json()
    assert kept["pieces"] == fresh["pieces"]
    for name, tensor in fresh["tensors"].items():
        found = np.array(kept["tensors"][name]["data"], dtype=float)
        np.testing.assert_allclose(found, np.array(tensor["data"], dtype=float), atol=1e-5)


def test_attributions_are_a_matrix_of_written_and_source(reader: httpx.Client) -> None:
    names = ["inside.occlusion", "inside.integrated-gradients", "inside.gradient-input"]
    names.append("inside.integrated-gradients.change")
    asked = {**SENTENCE, "select": names, "pad_to": 12}
    said = reader.post("/api/trace", json=asked).raise_for_status().json()
    assert set(said["tensors"]) == set(names)
    count = len(said["output"]["tokens"])
    for name in names[:3]:
        told = said["tensors"][name]
        assert told["over"] == {"query": "target", "key": "source"}
        assert told["shape"] == [12, 12]
        assert {None} == {value for row in told["data"][count:] for value in row}


def test_too_long_a_source_is_named_with_the_limit(reader: httpx.Client) -> None:
    asked = {"source": "猫" * 60, "target": "cats", "select": ["inside.integrated-gradients"]}
    reply = reader.post("/api/trace", json=asked)
    assert reply.status_code == 422
    assert reply.json()["type"].endswith("text-too-long")
    assert "62 tokens" in reply.json()["detail"]
    assert "at most 48" in reply.json()["detail"]


def test_the_terms_of_a_score_have_names_in_both_forms(reader: httpx.Client) -> None:
    cell = "decoder.1.cross.2.3.1"
    asked: dict[str, Any] = {
        **SENTENCE,
        "select": [f"inside.score.{cell}.*", "decoder.1.cross.scores@2,3,1:2"],
    }
    said = reader.post("/api/trace", json=asked).raise_for_status().json()
    binary = {"Accept": "application/octet-stream"}
    file = reader.post("/api/trace", json=asked, headers=binary).raise_for_status()
    reply = Reply.parse(file.content)
    [score] = said["tensors"]["decoder.1.cross.scores@2,3,1:2"]["data"]
    parts = reply.arrays[f"inside.score.{cell}.parts"]
    split = said["scores"][cell]
    assert parts.shape == (len(split["queries"]), len(split["keys"]))
    assert split["queries"][0] == {"at": "target", "part": "embedding", "head": None}
    np.testing.assert_allclose([parts.sum(), split["score"]], score, atol=1e-4)
    assert reply.document["scores"][cell]["keys"] == split["keys"]


def test_a_cell_that_does_not_exist_is_a_422(reader: httpx.Client) -> None:
    asked = {**SENTENCE, "select": ["inside.score.decoder.1.cross.99.3.1.*"]}
    reply = reader.post("/api/trace", json=asked)
    assert reply.status_code == 422
    assert reply.json()["field"] == "select[0]"
    assert "head of decoder.1.cross must be from 0 to" in reply.json()["detail"]
