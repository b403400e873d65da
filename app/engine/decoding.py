"""Streaming a decoding, one line per step."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from math import exp
from typing import Any

from app.engine.cost_estimates import lengths, writing
from app.engine.jobs import StreamJob
from app.engine.reply_formats import line, told
from model.adapters.requests.adapter_interface import Adapter
from model.adapters.requests.model_info import ModelInfo
from model.adapters.requests.request import Request
from model.adapters.requests.trace import Decoding
from model.decode.decoding_steps import PRUNED, Branch, Hypothesis, SearchStep

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
        return _lines(self.model, adapter, decoding, self.candidates)


def _lines(name: str, adapter: Adapter, decoding: Decoding, candidates: int) -> Iterator[bytes]:
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
