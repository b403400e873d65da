"""Replies as streams: a decoding, one line per step; a sweep, one line per batch.

A sweep is over heads, pairs of them, sublayers or positions.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from math import exp
from typing import Any

from app.engine.jobs import StreamJob, lengths, sweeping, writing
from app.engine.reply_formats import line, told
from model.adapters.requests.adapter_interface import Adapter
from model.adapters.requests.model_info import ModelInfo
from model.adapters.requests.request import Patch, Request
from model.adapters.requests.trace import Decoding
from model.adapters.sweep import Sweep, at_once, sweep
from model.adapters.sweep_changes import count
from model.decode.decoding_steps import PRUNED, Branch, Hypothesis, SearchStep
from model.text.tokens import Token
from model.trace.interventions import Intervention

Document = dict[str, Any]


@dataclass(frozen=True)
class DecodeJob(StreamJob):
    """A sentence to translate step by step, with this many candidates per hypothesis."""

    request: Request
    candidates: int

    def price(self, info: ModelInfo) -> float:
        """Return the cost of writing the translation."""
        return writing(replace(self.request, target=None), info)

    def line_price(self, info: ModelInfo) -> float:
        """Return the cost of one step."""
        return self.price(info) / max(1.0, lengths(replace(self.request, target=None), info)[1])

    def lines(self, adapter: Adapter) -> Iterator[bytes]:
        """Yield the first line, every step as it happens, and the last line.

        Raises InputError before the first line if the model cannot answer.
        """
        decoding = adapter.decode(self.request)
        return _decoding_lines(self.model, adapter, decoding, self.candidates)


def _decoding_lines(
    name: str, adapter: Adapter, decoding: Decoding, candidates: int
) -> Iterator[bytes]:
    decode = decoding.request.decode
    yield line(
        {
            "start": {
                "model": name,
                **told(decoding),
                "decode": asdict(decode),
                "max_tokens": decode.max_tokens,
            }
        }
    )
    teller = Teller(adapter, decode.length_penalty, candidates)
    written = Hypothesis()
    for index, step in enumerate(decoding.steps):
        written = step.written[0]
        yield line({"step": teller.step(index, step)})
    yield line({"end": {"output": teller.output(written)}})


class Teller:
    """Adds texts and scores to each step."""

    def __init__(self, adapter: Adapter, length_penalty: float, candidates: int) -> None:
        self.adapter = adapter
        self.length_penalty = length_penalty
        self.candidates = candidates

    def step(self, index: int, step: SearchStep) -> Document:
        """Return a step: the hypotheses so far, the candidates, and the resulting beams."""
        return {
            "index": index,
            "forced": step.forced,
            "hypotheses": [self._hypothesis(row, step) for row in range(len(step.read))],
            "beams": [self._branch(branch, step) for branch in step.branches],
        }

    def output(self, hypothesis: Hypothesis) -> Document:
        """Return the final output, as in a trace."""
        text, tokens = self.adapter.written(hypothesis.ids)
        return {
            "text": text,
            "tokens": [asdict(token) for token in tokens],
            "logprobs": hypothesis.logprobs,
            "score": hypothesis.score(self.length_penalty),
            "finished": hypothesis.finished,
        }

    def _hypothesis(self, row: int, step: SearchStep) -> Document:
        read = step.read[row]
        chosen = {
            branch.hypothesis.ids[-1]
            for branch in step.branches
            if branch.parent == row and branch.state != PRUNED
        }
        candidates, rest_probability = step.candidates(row, self.candidates)
        return {
            "ids": read.ids,
            "text": self.adapter.written(read.ids)[0],
            "logprob": read.logprob,
            "score": read.score(self.length_penalty),
            "candidates": [
                {
                    "id": candidate.id,
                    "text": self.adapter.token(candidate.id, first=not read.ids).text,
                    "logprob": candidate.logprob,
                    "probability": exp(candidate.logprob),
                    "kept": candidate.id in chosen,
                }
                for candidate in candidates
            ],
            "rest": rest_probability,
        }

    def _branch(self, branch: Branch, step: SearchStep) -> Document:
        new = branch.hypothesis
        token = self.adapter.token(new.ids[-1], first=len(new.ids) == 1)
        drawn = branch.drawn
        return {
            "parent": branch.parent,
            "token": {"id": token.id, "text": token.text, "special": token.special},
            "logprob": new.logprob,
            "score": new.score(self.length_penalty),
            "state": branch.state,
            "rank": step.rank(branch),
            "pool": drawn and drawn.pool,
            "drawn": drawn and drawn.probability,
        }


@dataclass(frozen=True)
class SweepJob(StreamJob):
    """A sentence, what is changed part by part, and the row to report; None for all rows."""

    request: Request
    effect: str | Patch
    row: int | None
    over: str = "heads"
    against: int | None = None
    among: tuple[str, ...] | None = None

    def price(self, info: ModelInfo) -> float:
        """Return the cost of one run per change."""
        return sweeping(self._with_other(), info, self._changes(info))

    def line_price(self, info: ModelInfo) -> float:
        """Return the cost of one batch of changes."""
        batch = at_once(info, sum(lengths(self.request, info)))
        return self.price(info) * min(1.0, batch / max(1, self._changes(info)))

    def _changes(self, info: ModelInfo) -> int:
        """Return about how many changes are made."""
        read, written = lengths(self.request, info)
        return count(info, self.effect, self.over, int(max(read, written)), self.among)

    def _with_other(self) -> Request:
        """Return the request with the other sentence, if there is one."""
        if isinstance(self.effect, str):
            return self.request
        patch = Intervention("", "patch", None, self.effect)
        return replace(self.request, interventions=(*self.request.interventions, patch))

    def lines(self, adapter: Adapter) -> Iterator[bytes]:
        """Yield the first line, the heads as they are computed, and the last line.

        Raises InputError before the first line as `model.adapters.sweep.sweep` does.
        """
        swept = sweep(
            adapter, self.request, self.effect, self.row, self.over, self.against, self.among
        )
        return _sweep_lines(self.model, swept)


def _sweep_lines(name: str, swept: Sweep) -> Iterator[bytes]:
    base = swept.base
    start = {
        "model": name,
        **told(base),
        "changes": swept.changes,
        "output": asdict(base.output),
        "logprobs": [base.output.logprobs[row] for row in swept.rows],
        "against": [_piece(token) for token in swept.against],
        "contrast": swept.contrast,
        "candidates": [[_piece(token) for token in row] for row in swept.candidates],
    }
    if (other_run := swept.other) is not None:
        start["other"] = {
            "tokens": told(other_run.trace)["tokens"],
            "contrast": other_run.contrast,
            "rows": other_run.pairs,
        }
    yield line({"start": start})
    done = 0
    for batch in swept.batches:
        done += len(batch)
        yield line({"changes": [asdict(change) for change in batch], "done": done})
    yield line({"end": {}})


def _piece(token: Token) -> dict[str, Any]:
    return {"id": token.id, "text": token.text, "special": token.special}
