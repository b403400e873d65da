"""Any posted state is rejected with a clear problem, or stored, opened and exported."""

import json
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import httpx
import numpy as np
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from app.engine.reply_formats import Reply
from app.http.file_formats import JSON, SAFETENSORS
from app.http.problems import URN
from app.operator_commands import read_archive, write_archive
from app.shares.formats import FORMAT, Share, upgrade, upgraded
from app.shares.store import SHARES
from tests.fuzz.known import FIELDS
from tests.golden.kept import put, rows
from tests.http.test_bad_input import JSON_VALUES
from tests.serving.fixtures import Serving
from tests.serving.storage import store_of

BOUNDED = settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
FORMS = [JSON, SAFETENSORS]
WRITING = ["target", "interventions", "pad_to"]
LOOKING = ["view", "block", "lang"]
PINNED = {"layer": 2, "head": 7, "query": 1, "key": 1}  # the last layer and head
DECODING = ["beam", "max_tokens", "length_penalty", "temperature", "top_k", "top_p", "prefix"]


@st.composite
def states(draw: st.DrawFn) -> dict[str, Any]:
    """Draw plausible states; one in three has an unusual value in one field."""
    chance = Random(draw(st.integers(0, 1 << 32)))

    def some(names: list[str]) -> dict[str, Any]:
        drawn = draw(st.lists(st.sampled_from(names), unique=True))
        return {name: FIELDS[name](chance) for name in drawn}

    state = {"source": FIELDS["source"](chance), **some(WRITING), **some(LOOKING)}
    state |= {
        name: chance.randint(0, last) for name, last in PINNED.items() if chance.random() < 0.5
    }
    if draw(st.booleans()):
        state["decode"] = {"method": chance.choice(["greedy", "beam", "sample"])}
        state["decode"] |= some(DECODING)
    options = st.dictionaries(st.from_regex(r"[a-z_]{1,20}", fullmatch=True), st.text(), max_size=2)
    state = {**draw(options), **state}
    if chance.random() < 0.3:
        state[draw(st.sampled_from([*state, "nothing", "Ä"]))] = draw(JSON_VALUES)
    return state


async def test_a_state_is_refused_or_stored_unchanged(serving: Serving, tmp_path: Path) -> None:
    posted: list[dict[str, Any]] = []

    @BOUNDED
    @given(states())
    def collect(state: dict[str, Any]) -> None:
        posted.append(state)

    collect()
    opened: dict[str, tuple[Any, Reply]] = {}
    settings_of = {"max_shares_per_minute": 1_000}
    async with serving(data_dir=tmp_path / "one", **settings_of) as client:
        for state in posted:
            content = json.dumps({"state": state}).encode()
            made = await client.post(
                "/api/shares", content=content, headers={"Content-Type": "application/json"}
            )
            if made.status_code != 201:
                assert made.status_code in (400, 422), (state, made.text)
                assert made.json()["type"].startswith(URN)
                continue
            share_id = made.json()["id"]
            opened[share_id] = await everything(client, share_id)
            assert opened[share_id][0]["state"] == state
            assert (await client.get(f"/s/{share_id}")).status_code == 200
        await write_archive(store_of(client).store, tmp_path / "shares.zip")
    assert 8 < len(opened) < len(posted) - 8, "some are refused, and some are not"
    async with serving(data_dir=tmp_path / "two") as client:
        counted = (await read_archive(store_of(client).store, tmp_path / "shares.zip"))[SHARES]
        assert (counted.taken, counted.left) == (len(opened), 0)
        for share_id, before in opened.items():
            document, file = await everything(client, share_id)
            assert document == before[0]
            assert file.document == before[1].document
            assert file.arrays.keys() == before[1].arrays.keys()
            for name, array in before[1].arrays.items():
                np.testing.assert_array_equal(file.arrays[name], array)
        await write_archive(store_of(client).store, tmp_path / "again.zip")
        again = (await read_archive(store_of(client).store, tmp_path / "again.zip"))[SHARES]
        assert (again.taken, again.left) == (0, len(opened))


async def everything(client: httpx.AsyncClient, share_id: str) -> tuple[Any, Reply]:
    """Return a share in both formats."""
    document, file = [
        await client.get(f"/api/shares/{share_id}", headers={"Accept": form}) for form in FORMS
    ]
    assert (document.status_code, file.status_code) == (200, 200)
    return document.json(), Reply.parse(file.content)


SIZES = st.fixed_dictionaries({"encoder": st.integers(1, 6), "decoder": st.integers(1, 6)})
ALIGNER = st.fixed_dictionaries({"at": st.just("decoder.1.cross"), "head": st.integers(0, 7)})
MODELS = st.fixed_dictionaries(
    {"id": st.text(), "name": st.text(), "layers": SIZES},
    optional={
        "examples": st.lists(st.text(), max_size=2),
        "aligner": st.none() | ALIGNER,
        "more": JSON_VALUES,
    },
).flatmap(
    lambda model: st.integers(1, 8).map(
        lambda heads: {**model, "heads": {"encoder": heads, "decoder": heads}}
    )
)


@BOUNDED
@given(MODELS)
def test_upgrading_a_share_twice_changes_nothing(model: dict[str, Any]) -> None:
    before = json.dumps(model)
    once = upgraded(model)
    assert json.dumps(upgraded(once)) == json.dumps(once)
    assert json.dumps(model) == before, "what is kept stays as it was written"
    assert {*once} >= {*model} - {"aligner"} | {"attentions", "texts", "capabilities"}


def test_upgrading_a_stored_share_is_idempotent(tmp_path: Path) -> None:
    for number in range(1, FORMAT + 1):
        for row in rows(put(number, tmp_path / str(number))):
            share = Share(row.id, number, datetime.now(UTC), row.state, row.model, row.trace)
            once = upgrade(share)
            assert once.format == FORMAT
            assert upgrade(once) == once
            assert (once.state, once.trace) == (share.state, share.trace)
