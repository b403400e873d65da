"""Frozen sentences: each distinct one in a batch is run once, however many requests use it."""

from collections.abc import Sequence

import pytest
import torch

from model.adapters.encoder_decoder.encoder_decoder_adapter import EncoderDecoder
from model.adapters.requests.request import MAX_SENTENCES, Decode, Request
from model.adapters.requests.trace import Trace
from model.errors import InputError
from model.trace.interventions import Intervention

OTHERS = ("A dog ran.", "我不知道她是谁。")


def frozen(at: str, sentence: str, head: int | None = None) -> Intervention:
    return Intervention(at, "freeze", head, Request(sentence))


def request(*made: Intervention, source: str = "The cat sat.", **fields: object) -> Request:
    fields = {"select": ("*.weights",), "decode": Decode(max_tokens=4)} | fields
    return Request(source, interventions=made, **fields)  # type: ignore[arg-type]


@pytest.fixture
def runs(tiny: EncoderDecoder, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The sentences of each batch that the model runs."""
    seen: list[list[str]] = []
    run = tiny.run

    def counted(requests: Sequence[Request]) -> list[Trace]:
        seen.append([one.source for one in requests])
        return run(requests)

    monkeypatch.setattr(tiny, "run", counted)
    return seen


def test_a_batch_runs_each_sentence_once(tiny: EncoderDecoder, runs: list[list[str]]) -> None:
    dog, she = OTHERS
    places = ("encoder.0.self", "encoder.1.self", "decoder.0.cross")
    requests = [
        request(*(frozen(at, dog, head) for at in places for head in (None, 1))),
        request(frozen(places[0], she), frozen(places[1], dog)),
        request(source="猫坐在这。"),
    ]
    tiny.run(requests)
    assert runs == [[one.source for one in requests], [dog, she]]


def test_a_stepwise_decoding_runs_each_sentence_once(
    tiny: EncoderDecoder, runs: list[list[str]]
) -> None:
    assert list(tiny.decode(request(frozen("encoder.0.self", OTHERS[0]))).steps)
    assert runs == [[OTHERS[0]]]


def test_a_frozen_pattern_is_the_other_sentences(tiny: EncoderDecoder) -> None:
    at = "encoder.0.self"
    other = tiny.trace(OTHERS[1])[f"{at}.weights"].value
    trace = tiny.trace(request(frozen(at, OTHERS[0], 2), frozen(at, OTHERS[1], 1)))
    found = trace[f"{at}.weights"].value
    rows = min(found.shape[1], other.shape[1])
    torch.testing.assert_close(found[1, :rows, :rows], other[1, :rows, :rows], atol=1e-5, rtol=0)


def test_too_many_frozen_sentences_are_refused(tiny: EncoderDecoder) -> None:
    sentences = [f"{'a ' * n}cat." for n in range(MAX_SENTENCES + 1)]
    at = "encoder.0.self"
    enough = [frozen(at, one, head) for one in sentences[:-1] for head in range(4)]
    tiny.check(request(*enough))
    with pytest.raises(InputError) as error:
        tiny.check(request(*enough, frozen(at, sentences[-1])))
    assert (error.value.kind, error.value.field) == ("too-long", "interventions")
    assert "9 different sentences; at most 8" in error.value.detail
    assert error.value.excess is not None
    assert (error.value.excess.limit, error.value.excess.value) == (8, 9)


def test_a_sentence_is_checked_once_and_named(tiny: EncoderDecoder) -> None:
    at = "encoder.0.self"
    made = [frozen(at, "A dog."), frozen(at, " "), frozen(at, " ")]
    with pytest.raises(InputError) as error:
        tiny.check(request(*made))
    assert error.value.field == "interventions[1].do.freeze.source"
