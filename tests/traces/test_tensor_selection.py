"""An entry of `select` with a window and a dtype equals NumPy's slice of the whole."""

import httpx
import numpy as np
import pytest

from app.engine.reply_formats import Reply, Selection
from model.errors import InputError

OCTETS = {"Accept": "application/octet-stream"}
WEIGHTS = "encoder.2.self.weights"


async def ask(client: httpx.AsyncClient, *select: str, **more: object) -> Reply:
    request = {"source": "The cat sat on the mat.", "select": select, **more}
    response = await client.post("/api/trace", json=request, headers=OCTETS)
    assert response.status_code == 200, response.text
    return Reply.parse(response.content)


@pytest.mark.parametrize(
    ("window", "index", "dims"),
    [
        ("3", np.s_[3], ["query", "key"]),
        ("3,0:4,2:6", np.s_[3, 0:4, 2:6], ["query", "key"]),
        ("1:3", np.s_[1:3], ["head", "query", "key"]),
        (":,2", np.s_[:, 2], ["head", "key"]),
        (":,:,1", np.s_[:, :, 1], ["head", "query"]),
        ("2:,1:999", np.s_[2:, 1:999], ["head", "query", "key"]),
        ("0,0,0", np.s_[0, 0, 0], []),
    ],
)
async def test_window_is_numpys(
    client: httpx.AsyncClient, window: str, index: tuple[slice, ...], dims: list[str]
) -> None:
    key = f"{WEIGHTS}@{window}"
    reply = await ask(client, WEIGHTS, key)
    expected = reply.arrays[WEIGHTS][index]
    np.testing.assert_allclose(reply.arrays[key], expected, atol=1e-7)
    about = reply.document["tensors"][key]
    assert about["dims"] == dims
    assert about["shape"] == list(expected.shape)
    assert about["over"] == {dim: "source" for dim in dims if dim != "head"}


async def test_each_tensor_has_its_own_dtype(client: httpx.AsyncClient) -> None:
    select = (WEIGHTS, f"{WEIGHTS}:uint8", f"{WEIGHTS}:float16", "encoder.0.self.mask:float16")
    arrays = (await ask(client, *select)).arrays
    assert {key: array.dtype.name for key, array in arrays.items()} == {
        WEIGHTS: "float32",
        f"{WEIGHTS}:uint8": "uint8",
        f"{WEIGHTS}:float16": "float16",
        "encoder.0.self.mask:float16": "bool",  # truth has its own
    }
    exact = arrays[WEIGHTS]
    np.testing.assert_array_equal(arrays[f"{WEIGHTS}:uint8"], np.rint(exact * 255))
    np.testing.assert_allclose(arrays[f"{WEIGHTS}:float16"], exact, atol=5e-4)


async def test_a_number_that_its_dtype_cannot_hold_is_refused(client: httpx.AsyncClient) -> None:
    hidden = "encoder.0.ffn.output"
    body = {
        "source": "Hi",
        "select": [hidden],
        "interventions": [{"at": "encoder.0.ffn.hidden", "do": {"fill": 10_000}}],
    }
    exact = np.array((await client.post("/api/trace", json=body)).json()["tensors"][hidden]["data"])
    reply = await client.post("/api/trace", json={**body, "dtype": "float16"})
    assert (reply.status_code, reply.json()["field"]) == (422, "dtype")
    largest = np.abs(exact).max()
    assert largest > 65_504
    assert reply.json()["detail"] == (
        f"dtype float16 holds numbers up to 65504, and {hidden} has {largest:.6g}; "
        "select it as float32"
    )
    small = {**body, "select": [hidden, WEIGHTS], "dtype": "float16"}
    small["select"] = [f"{hidden}:float32", WEIGHTS]
    assert (await client.post("/api/trace", json=small)).status_code == 200


async def test_own_dtype_goes_before_the_requests(client: httpx.AsyncClient) -> None:
    arrays = (await ask(client, WEIGHTS, f"{WEIGHTS}:float32", dtype="uint8")).arrays
    assert arrays[WEIGHTS].dtype == np.uint8
    assert arrays[f"{WEIGHTS}:float32"].dtype == np.float32


async def test_pattern_names_many_and_same_entries_come_once(client: httpx.AsyncClient) -> None:
    reply = await ask(client, "encoder.*.self.weights@0:uint8", f"{WEIGHTS}@0:uint8")
    keys = [f"encoder.{layer}.self.weights@0:uint8" for layer in range(3)]
    assert list(reply.document["tensors"]) == keys
    assert set(reply.arrays) == set(keys)


async def test_the_limit_counts_the_numbers_sent(client: httpx.AsyncClient) -> None:
    """A small window of a large tensor is accepted."""
    one = await ask(client, "*.weights@0,0")
    assert one.values < 1000


async def test_answer_has_another_id_for_another_part(client: httpx.AsyncClient) -> None:
    ids = {(await ask(client, entry)).document["id"] for entry in (WEIGHTS, f"{WEIGHTS}@0")}
    assert len(ids) == 2


def test_invalid_entries_are_refused() -> None:
    with pytest.raises(InputError, match=r"select\[1\] is not of the form"):
        Selection.parse(["*.q", "*.q@x"])


def test_error_names_the_axis_and_the_limit(reader: httpx.Client) -> None:
    body = {"source": "Hi.", "select": [f"{WEIGHTS}@8"]}
    problem = reader.post("/api/trace", json=body).json()
    assert problem["detail"] == "select[0] starts at head 8, but there are only 8"
    assert (problem["limit"], problem["value"]) == (7, 8)
