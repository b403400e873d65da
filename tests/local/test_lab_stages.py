"""Attention by hand in the page: its steps are the server's, in float64.

The page's requests are those of the lab's figure, so examples are taken from it; the drawn ones
have every part of a request that the figure has.
"""

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from app.lab import LabBody, worked_out
from model.lab.lab_request import MATRICES
from tests.local.exported_model import node

Json = dict[str, Any]
DRAWN = 80


def printed(*arguments: str, lines: str = "") -> list[Any]:
    return [json.loads(line) for line in node(*arguments, lines=lines).splitlines()]


def replies(folder: Path, requests: list[Json]) -> list[Json]:
    lines = "\n".join(json.dumps(request) for request in requests)
    return printed("tests/local/answer_lab.js", str(folder), lines=lines)


def assert_served(request: Json, reply: Json) -> None:
    """Compare with the reply of POST /api/lab: the same steps in the same order."""
    served = orjson.loads(worked_out(LabBody.model_validate(request).request()))
    assert [*reply["steps"]] == [*served["steps"]], request
    assert reply["dims"] == served["dims"], request
    for name, expected in served["steps"].items():
        mine, theirs = np.asarray(reply["steps"][name]), np.asarray(expected)
        assert (mine.dtype == bool) == (theirs.dtype == bool), name
        np.testing.assert_allclose(
            mine, theirs, rtol=1e-11, atol=1e-12, err_msg=f"{name} {request}"
        )


class Drawn:
    """A request with some of all parts, as the page sends it."""

    def __init__(self, seed: int) -> None:
        self.chosen, self.numbers = random.Random(seed), np.random.default_rng(seed)
        self.tokens, self.features, self.k, self.v = (self.size() for _ in range(4))
        self.heads = self.chosen.choice([1, 2, 3])
        self.norm = self.chosen.choice([None, "residual", "pre", "post"])
        self.request: Json = {"convention": "row", "heads": self.heads}
        self.request["x"] = self.matrix(self.tokens, self.features)
        self.projections()
        width = self.output()
        self.scoring()
        self.mask()
        self.layer(width)
        if self.maybe():
            self.prediction(width)
        if self.maybe():
            self.turn()

    def maybe(self) -> bool:
        return self.chosen.random() < 0.5

    def size(self) -> int:
        return self.chosen.choice([1, 2, 3, 5, 9])

    def matrix(self, rows: int, columns: int) -> Any:
        return self.numbers.normal(size=(rows, columns)).round(3).tolist()

    def vector(self, length: int) -> Any:
        return self.matrix(1, length)[0]

    def projections(self) -> None:
        read = self.features
        if self.maybe():
            read = self.size()
            self.request["memory"] = self.matrix(self.size(), read)
        self.request["w_q"] = self.matrix(self.features, self.heads * self.k)
        self.request["w_k"] = self.matrix(read, self.heads * self.k)
        self.request["w_v"] = self.matrix(read, self.heads * self.v)
        if self.maybe():
            for letter in "qkv":
                length = len(self.request[f"w_{letter}"][0])
                self.request[f"b_{letter}"] = self.vector(length)

    def output(self) -> int:
        if not self.norm and self.maybe():
            return self.heads * self.v
        width = self.features if self.norm else self.size()
        self.request["w_o"] = self.matrix(self.heads * self.v, width)
        if self.maybe():
            self.request["b_o"] = self.vector(width)
        return width

    def scoring(self) -> None:
        lengths = [self.k, self.heads * self.k]
        self.request["scoring"] = self.chosen.choice(["dot", "scaled", "additive"])
        if self.request["scoring"] == "additive":
            self.request["w"] = self.vector(self.chosen.choice(lengths))
            if self.maybe():
                self.request["b"] = self.vector(self.chosen.choice(lengths))
        kind = self.chosen.choice(["none", "sinusoidal", "add", "multiply"])
        if kind == "sinusoidal":
            self.request["positions"] = kind
        elif kind != "none":
            offsets = {str(offset): self.vector(1)[0] for offset in range(-2, 3)}
            self.request["relative"] = {kind: offsets, "clip": 2}

    def mask(self) -> None:
        mask = self.chosen.choice(["", "causal", "window", "causal-window"])
        if mask:
            self.request["mask"] = mask
        if "window" in mask:
            self.request["window"] = self.size()
        if self.maybe():
            keys = self.request["memory" if "memory" in self.request else "x"]
            self.request["padding"] = [self.maybe() for _ in keys]

    def layer(self, width: int) -> None:
        if self.norm == "residual":
            self.request["residual"] = True
        elif self.norm:
            self.request["norm"] = self.norm
        learned = self.norm in ("pre", "post") and self.maybe()
        if learned:
            self.request |= {name: self.vector(width) for name in ("gamma", "beta")}
        if self.maybe():
            hidden = self.size()
            self.request["w_1"] = self.matrix(width, hidden)
            self.request["w_2"] = self.matrix(hidden, width)
            if learned:
                self.request |= {name: self.vector(width) for name in ("ffn_gamma", "ffn_beta")}
            if self.maybe():
                self.request |= {"b_1": self.vector(hidden), "b_2": self.vector(width)}

    def prediction(self, width: int) -> None:
        vocabulary = self.size()
        self.request["w_vocab"] = self.matrix(width, vocabulary)
        self.request["targets"] = [self.chosen.randrange(vocabulary) for _ in range(self.tokens)]
        self.request["shift"] = self.tokens > 1 and self.maybe()
        self.request["label_smoothing"] = self.chosen.choice([0, 0.1, 1])

    def turn(self) -> None:
        self.request["convention"] = "column"
        for name in MATRICES:
            if name in self.request:
                self.request[name] = [*zip(*self.request[name], strict=True)]


def test_every_example_of_the_page_has_the_server_s_steps(exported_lab: Path) -> None:
    script = (
        'import {PRESETS, preset} from "./static/js/lab/lab-link.js";'
        'import {labRequest} from "./static/js/lab/lab-link.js";'
        'import {transposedLab, unshuffled} from "./static/js/lab/matrices.js";'
        "for (const name of Object.keys(PRESETS)) {"
        "  const lab = preset(name);"
        "  for (const shown of [lab, transposedLab(lab), unshuffled(lab)])"
        "    console.log(JSON.stringify(labRequest(shown)));"
        "}"
    )
    requests = printed("--input-type=module", "-e", script)
    assert len(requests) >= 30
    for request, reply in zip(requests, replies(exported_lab, requests), strict=True):
        assert_served(request, reply)


def test_drawn_requests_have_the_server_s_steps(exported_lab: Path) -> None:
    requests = [Drawn(seed).request for seed in range(DRAWN)]
    masked = 0
    for request, reply in zip(requests, replies(exported_lab, requests), strict=True):
        assert_served(request, reply)
        masked += any(not any(row) for row in reply["steps"]["mask"])
    assert masked, "no query of these requests is fully masked"
