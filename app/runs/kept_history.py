"""The training history of a kept model, made from the snapshots of its run."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from app.engine.wire import Reply
from app.runs.run import Run
from model.bundle.measurements import Learning, SnapshotScores, WatchedSentence
from model.live.events import trace_path
from model.text.tokens import Token
from model.zoo.registry import DIRECTION

WEIGHTS = ".weights"


def history(run: Run, last: int, digest: str) -> Learning:
    """Return the history of a run up to step `last`, with its probes as the watched sentences.

    `digest` is the digest of the bundle that holds the last snapshot. Blocks; raises
    `FileNotFoundError` if a snapshot's file is missing.
    """
    snapshots = [told for step, told in sorted([*run.snapshots.items()]) if step <= last]
    probes = run.begun["probes"] if run.begun else []
    weights: dict[str, torch.Tensor] = {}
    examples = []
    for probe, told in enumerate(probes):
        document: dict[str, Any] = {}
        for snapshot in snapshots:
            step = snapshot["step"]
            reply = Reply.parse(trace_path(run.folder, step, probe).read_bytes())
            document = reply.document
            for name, array in reply.arrays.items():
                if name.endswith(WEIGHTS):
                    # In steps of 1/255, like all stored histories.
                    scaled = np.rint(array.astype(np.float32) * 255).astype(np.uint8)
                    weights[f"{probe}.{step}.{name}"] = torch.from_numpy(scaled)
        written = [snapshot["written"][probe] for snapshot in snapshots]
        examples.append(_watched(told["source"], document, written))
    scores = [SnapshotScores(one["step"], one["loss"], {}, one["accuracy"]) for one in snapshots]
    return Learning(digest, scores, examples, weights)


def _watched(source: str, document: Mapping[str, Any], written: list[str]) -> WatchedSentence:
    tokens = {text: [Token(**one) for one in read] for text, read in document["tokens"].items()}
    answer = [Token(**one) for one in document["output"]["tokens"]]
    return WatchedSentence(source, DIRECTION, tokens, answer, written)
