"""Decoding that stops at any of several end tokens, against the library's `generate`."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from model.adapters.requests.request import Decode, Request
from tests.model.tiny_huggingface import build

pytest.importorskip("transformers")

from model.adapters.huggingface.huggingface_adapter import HuggingFace, load_huggingface
from model.adapters.huggingface.models_in_memory import wrap

TEXTS = ["The cat sat.", "a", "A dog ran", "the mat", "on", "猫", "s", "The dog sat on", "it", "x"]
MOST = 12


def with_ends(likely: float = 4.0) -> tuple[HuggingFace, Any]:
    """Return a Llama that two special tokens end, both of which it often writes; and theirs."""
    theirs, words = build("llama")
    words.add_special_tokens({"additional_special_tokens": ["<s>"]})
    ends = [words.eos_token_id, words.convert_tokens_to_ids("<s>")]
    with torch.no_grad():
        theirs.lm_head.weight[ends] *= likely
    theirs.generation_config.eos_token_id = ends
    return wrap(theirs, words), theirs


def generated(model: HuggingFace, theirs: Any, text: str, **options: Any) -> tuple[int, ...]:
    ids = [token.id for token in model.texts_of(Request(text))["text"]]
    found: list[int] = theirs.generate(
        torch.tensor([ids]),
        attention_mask=torch.ones(1, len(ids), dtype=torch.long),
        do_sample=False,
        max_new_tokens=MOST,
        suppress_tokens=model.text.never.tolist(),
        **options,
    )[0].tolist()
    return tuple(found[len(ids) :])


def written(model: HuggingFace, request: Request) -> tuple[int, ...]:
    *_, last = model.decode(request).steps
    return last.written[0].ids


def test_any_end_ends_a_text() -> None:
    model, theirs = with_ends()
    last = set[int]()
    for text in TEXTS:
        ids = written(model, Request(text, decode=Decode(max_tokens=MOST)))
        assert ids == generated(model, theirs, text)
        last.add(ids[-1] if len(ids) < MOST else -1)
    assert model.text.ends <= last  # otherwise nothing was tested
    assert model.text.ends == set(theirs.generation_config.eos_token_id)


def test_beams_end_too() -> None:
    """The library drops some beams that end, so that it may find less probable texts."""
    model, theirs = with_ends()
    beams, same = Decode("beam", beam=3, length_penalty=0, max_tokens=MOST), 0
    for text in TEXTS:
        ids = written(model, Request(text, decode=beams))
        other = generated(model, theirs, text, num_beams=3, length_penalty=0.0)
        scores = [
            sum(model.trace(text, decode=Decode(prefix=one)).output.logprobs[-len(one) :])
            for one in (ids, other)
        ]
        assert scores[0] >= scores[1] - 1e-4
        assert ids[-1] in model.text.ends
        same += ids == other
    assert same >= len(TEXTS) - 1


def test_a_trace_ends_alike_alone_padded_and_among_others() -> None:
    model, theirs = with_ends()
    requests = [Request(text, decode=Decode(max_tokens=MOST)) for text in TEXTS]
    together = model.run(requests)
    for request, found in zip(requests, together, strict=True):
        expected = generated(model, theirs, request.source)
        for one in (found, model.trace(request), model.trace(replace(request, pad_to=40))):
            output = one.output
            assert tuple(token.id for token in output.tokens[output.continues :]) == expected
            assert output.finished == (expected[-1] in model.text.ends)
            assert output.logprobs == pytest.approx(found.output.logprobs, abs=1e-4)


def test_a_prefix_that_has_ended_is_not_continued() -> None:
    model, _ = with_ends()
    for end in model.text.ends:
        output = model.trace("The cat", decode=Decode(prefix=(70, end), max_tokens=9)).output
        assert [token.id for token in output.tokens[output.continues :]] == [70, end]
        assert output.finished


def test_ends_are_those_of_the_folder(tmp_path: Path) -> None:
    theirs, words = build("llama")
    theirs.generation_config.eos_token_id = [words.eos_token_id, 7]
    theirs.save_pretrained(tmp_path)
    words.save_pretrained(tmp_path)
    assert load_huggingface(tmp_path, "cpu").text.ends == {words.eos_token_id, 7}


def test_without_ends_the_tokenizer_ends_a_text() -> None:
    theirs, words = build("llama")
    theirs.generation_config.eos_token_id = None
    assert wrap(theirs, words).text.ends == {words.eos_token_id}
    words.eos_token = None
    assert wrap(theirs, words).text.ends == set()
