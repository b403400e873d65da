"""An exported bundle run by ONNX Runtime, as the page runs it."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

Array = NDArray[Any]
TYPES = {"float32": np.float32, "int64": np.int64, "bool": np.bool_}
SETTLED = 1e-6  # below it, a change of the cache is rounding


class OnnxModel:
    """Both graphs of a folder that `python -m model export-web` wrote."""

    def __init__(self, folder: Path) -> None:
        described = json.loads((folder / "graphs.json").read_text())
        self.digest = described["digest"]
        self.graphs: dict[str, Any] = described["graphs"]
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.sessions = {
            name: onnxruntime.InferenceSession(folder / f"{name}.onnx", options)
            for name in self.graphs
        }

    def run(
        self, graph: str, texts: Mapping[str, Array], changes: Mapping[str, Array] | None = None
    ) -> dict[str, Array]:
        """Return all outputs by name, with the batch axis."""
        described, given = self.graphs[graph], changes or {}
        feeds: dict[str, Array] = {
            text["name"]: texts[text["name"]].astype(TYPES[text["dtype"]])
            for text in described["texts"]
        }
        for change in described["changes"]:
            neutral = np.full(
                (change["layers"], *(1 for _ in change["dims"][1:])), change["neutral"]
            )
            dtype = np.bool_ if change["neutral"] is True else np.float32
            feeds[change["name"]] = given.get(change["name"], neutral).astype(dtype)
        names = [output["name"] for output in described["outputs"]]
        return dict(zip(names, self.sessions[graph].run(names, feeds), strict=True))

    def read(
        self,
        source: Sequence[int],
        changes: Mapping[str, Array] | None = None,
        visible: Sequence[bool] | None = None,
    ) -> dict[str, Array]:
        """Run the encoder over the ids of one source."""
        everything = np.ones((1, len(source)), bool)
        texts = {
            "source": np.array([source]),
            "source.real": everything,
            "source.visible": everything if visible is None else np.array([visible]),
        }
        return {**self.run("encoder", texts, changes), "source.visible": texts["source.visible"]}

    def score(
        self,
        read: Mapping[str, Array],
        target: Sequence[int],
        past: Mapping[str, Array] | None = None,
        changes: Mapping[str, Array] | None = None,
    ) -> dict[str, Array]:
        """Run the decoder over the next ids, after those whose keys and values are in `past`."""
        memory = read["memory"]
        empty = {
            text["name"]: np.zeros((1, text["axes"][1], 0, text["axes"][3]))
            for text in self.graphs["decoder"]["texts"]
            if text["name"].startswith("past.")
        }
        kept = {name: past[name.replace("past", "cache", 1)] for name in empty} if past else empty
        length = len(target) + next(iter(kept.values())).shape[2]
        texts = {
            "target": np.array([target]),
            "target.real": np.ones((1, length)),
            "target.visible": np.ones((1, length)),
            "memory": memory,
            "source.real": np.ones((1, memory.shape[1])),
            "source.visible": read["source.visible"],
            **kept,
        }
        return self.run("decoder", texts, changes)

    def greedy(
        self, read: Mapping[str, Array], bos: int, eos: int, never: Sequence[int], limit: int
    ) -> list[int]:
        """Return the most probable next id, again and again, one step of the cache each."""
        written: list[int] = []
        past: dict[str, Array] | None = None
        while len(written) < limit and written[-1:] != [eos]:
            past = self.score(read, [written[-1] if written else bos], past)
            logprobs = past["logprobs"][0, -1].copy()
            logprobs[[*never]] = -np.inf
            written.append(int(logprobs.argmax()))
        return written
