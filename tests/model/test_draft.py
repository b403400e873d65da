"""Drafts change only how long a translation takes, whatever they contain."""

import logging
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import pytest
import torch
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from model.adapters.encoder_decoder.drafts import (
    TRIES,
    WORTHWHILE,
    Drafter,
    Drafts,
    IdSequence,
    verified,
)
from model.adapters.encoder_decoder.encoder_decoder_adapter import EncoderDecoder
from model.adapters.requests.request import Decode, Request
from model.adapters.requests.trace import Trace
from model.bundle.weights import Bundle
from model.trace.interventions import Intervention
from model.transformer.stacks import Transformer
from tests.model.drafted import SELECT, SENTENCES, answers, assert_same, one_by_one

OFTEN = settings(max_examples=5, deadline=None, derandomize=True, phases=(Phase.generate,))


class Scripted(Drafter):
    """Returns given drafts, and counts its calls and their rows."""

    def __init__(self, say: Callable[[IdSequence, IdSequence], IdSequence]) -> None:
        self.say = say
        self.asked: list[int] = []

    def draft(
        self, sources: Sequence[IdSequence], begun: Sequence[IdSequence], most: int
    ) -> Drafts:
        self.asked.append(len(sources))
        said = [self.say(*one) for one in zip(sources, begun, strict=True)]
        return lambda: said


class Noisy(Drafter):
    """Replaces, removes and doubles tokens in another drafter's drafts, or adds invalid ones."""

    def __init__(self, drafter: Drafter, seed: int) -> None:
        self.drafter = drafter
        self.random = random.Random(seed)

    def draft(
        self, sources: Sequence[IdSequence], begun: Sequence[IdSequence], most: int
    ) -> Drafts:
        drafts = self.drafter.draft(sources, begun, most)
        return lambda: [[noise for id_ in ids for noise in self._noise(id_)] for ids in drafts()]

    def _noise(self, id_: int) -> list[int]:
        if self.random.random() < 0.8:
            return [id_]
        other = self.random.randrange(8000)
        return self.random.choice([[], [id_, id_], [other], [id_, other], [-1], [8000], [0], [2]])


@pytest.fixture(autouse=True)
def _quiet(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """No draft fails unless a test says so."""
    yield
    assert not [record for record in caplog.get_records("call") if record.levelno > logging.INFO]


def test_drafted_results_equal_decoded_ones(
    shipped: Bundle, drafter: Drafter, alone: list[Trace]
) -> None:
    requests = [Request(source, select=SELECT) for source in SENTENCES]
    assert_same(one_by_one(shipped, requests, drafter), alone)
    others = [
        Request("I am here.", decode=Decode("beam")),
        Request("我在这里。", decode=Decode("sample", seed=3)),
        Request("It is late.", target="很晚了。"),
        Request("It is late.", interventions=(Intervention("encoder.0.self", "zero", 1),)),
    ]
    mixed = [*requests[:2], *others, requests[8]]
    assert_same(answers(shipped, mixed, drafter), answers(shipped, mixed))
    padded = [replace(request, pad_to=60) for request in requests[3:6]]
    assert_same(answers(shipped, padded, drafter), answers(shipped, padded))


def test_drafts_are_mostly_right(shipped: Bundle, drafter: Drafter, alone: list[Trace]) -> None:
    """Wrong drafts would only cost time, which no other test would show."""
    sources = [[token.id for token in trace.texts["source"]] for trace in alone]
    drafts = drafter.draft(sources, [()] * len(sources), 128)()
    own = [[token.id for token in trace.output.tokens] for trace in alone]
    assert sum(map(list.__eq__, map(list, drafts), own)) >= 0.7 * len(own)


def test_every_length(shipped: Bundle, drafter: Drafter) -> None:
    """Limit the output, and the source, after some of the tokens."""
    source = SENTENCES[8]
    cut = [Request(source, decode=Decode(max_tokens=most), select=()) for most in range(1, 30, 3)]
    assert_same(answers(shipped, cut, drafter), answers(shipped, cut))
    read = [Request(source[:end], select=()) for end in range(1, len(source) + 1, 4)]
    assert_same(answers(shipped, read, drafter), answers(shipped, read))


def test_up_to_the_model_s_limit(shipped: Bundle, drafter: Drafter) -> None:
    """Use the longest source, and targets that end only at the limit."""
    requests = [
        Request("no " * 124, select=()),
        Request("哈" * 120, decode=Decode(max_tokens=127), select=()),
    ]
    decoded = answers(shipped, requests)
    assert max(len(trace.output.tokens) for trace in decoded) == 128
    assert_same(answers(shipped, requests, drafter), decoded)


def test_from_a_prefix(shipped: Bundle, drafter: Drafter, alone: list[Trace]) -> None:
    """Use a prefix that the model would write, and one that it would not."""
    ids = [token.id for token in alone[3].output.tokens]
    for prefix in (ids[:4], ids[2:5], ids[-3:-1]):
        request = Request(SENTENCES[3], decode=Decode(prefix=tuple(prefix)), select=SELECT)
        assert_same(answers(shipped, [request], drafter), answers(shipped, [request]))


def test_noise_on_the_drafts(shipped: Bundle, drafter: Drafter) -> None:
    requests = [Request(source, select=SELECT) for source in SENTENCES]
    assert_same(answers(shipped, requests, Noisy(drafter, 0)), answers(shipped, requests))


@pytest.mark.parametrize(
    "lie",
    [
        lambda source, begun: (),
        lambda source, begun: begun,
        lambda source, begun: (*begun, 2),  # <eos>
        lambda source, begun: (2, 2, 2),
        lambda source, begun: (0, 1, 3),  # <pad>, <bos>, a tag
        lambda source, begun: (-1, 10**9),
        lambda source, begun: tuple(source) * 100,
        lambda source, begun: (*begun, *[300] * 500),
    ],
)
def test_any_draft_gives_the_same_result(
    shipped: Bundle, alone: list[Trace], lie: Callable[[IdSequence, IdSequence], IdSequence]
) -> None:
    requests = [Request(source, select=SELECT) for source in SENTENCES[:2]]
    by = Scripted(lie)
    assert_same(one_by_one(shipped, requests, by), alone[:2])
    assert len(by.asked) <= TRIES * len(requests)


@OFTEN
@given(said=st.lists(st.lists(st.integers(-3, 410), max_size=70), min_size=1, max_size=4))
def test_random_drafts_give_the_same_result(tiny: EncoderDecoder, said: list[list[int]]) -> None:
    """Use an untrained model, whose tokens have similar probabilities."""
    bundle = bundle_of(tiny)
    drafts = iter(said * 100)
    requests = [Request(source, select=SELECT) for source in ("A cat", "猫坐在垫子上。", "the dog")]
    by = Scripted(lambda source, begun: (*begun, *next(drafts)))
    assert_same(answers(bundle, requests, by), answers(bundle, requests))


def bundle_of(tiny: EncoderDecoder) -> Bundle:
    return Bundle(
        "tiny",
        tiny.info.languages,
        tiny.info.directions,
        tiny.model,
        tiny.tokenizer,
        "",
        "",
        tiny.rows.detector,
    )


def test_a_right_draft_is_all_that_is_needed(
    shipped: Bundle, alone: list[Trace], monkeypatch: pytest.MonkeyPatch
) -> None:
    known = {
        tuple(token.id for token in trace.texts["source"]): [t.id for t in trace.output.tokens]
        for trace in alone
    }
    by = Scripted(lambda source, begun: known[tuple(source)])
    model = EncoderDecoder(shipped, "model", None, by)
    requests = [Request(source, select=SELECT) for source in SENTENCES]
    monkeypatch.setattr(model._writer, "_reader", None)  # decoding would fail
    for _ in range(2):  # the second result is cached
        assert_same(model.run(requests), alone)
    assert by.asked == [len(requests)]


def test_drafts_that_are_never_right_are_given_up(tiny: EncoderDecoder) -> None:
    """They are tried again now and then, and made for every batch once they are right."""
    bundle, known = bundle_of(tiny), dict[IdSequence, IdSequence]()
    sources = [f"cat {n}" for n in range(120)]
    by = Scripted(lambda source, begun: known.get(tuple(source), (*begun, 0)))
    model = EncoderDecoder(bundle, "tiny", None, by)

    def short(source: str) -> Request:
        return Request(source, decode=Decode(max_tokens=4), select=())

    def batches(some: Sequence[str]) -> int:
        before = len(by.asked)
        for source in some:
            model.run([short(source)])
        return len(by.asked) - before

    assert batches(sources[:40]) < 40 * TRIES
    assert by.right < WORTHWHILE
    assert batches(sources[40:72]) <= 2 * TRIES
    for trace in one_by_one(bundle, [*map(short, sources[72:])]):
        ids = tuple(token.id for token in trace.texts["source"])
        known[ids] = [token.id for token in trace.output.tokens]
    assert batches(sources[72:104]) > 2
    assert by.right > WORTHWHILE
    assert batches(sources[104:]) == 16, "one for each"


def test_requests_that_are_not_drafted(shipped: Bundle) -> None:
    by = Scripted(lambda source, begun: ())
    requests = [
        Request("Hi.", decode=Decode("beam")),
        Request("Hi.", decode=Decode("sample")),
        Request("Hi.", target="你好"),
        Request("Hi.", interventions=(Intervention("encoder.0.self", "zero"),)),
    ]
    answers(shipped, requests, by)
    assert not by.asked
    answers(shipped, [Request("Hi.")], by)
    assert by.asked


def test_equal_tokens_are_left_to_decoding(tiny: EncoderDecoder) -> None:
    """Twin tokens are equally probable, so that a draft with either one must not be accepted."""
    bundle = bundle_of(tiny)
    model = Transformer(bundle.model.config).eval()
    model.load_state_dict(bundle.model.state_dict())
    with torch.no_grad():
        own = [token.id for token in answers(bundle, [Request("A cat")])[0].output.tokens]
        twin = next(id_ for id_ in range(300, 400) if id_ not in own)
        model.embedding.weight[twin] = model.embedding.weight[own[0]]
    twins = replace(bundle, model=model)
    [decoded] = answers(twins, [Request("A cat")])
    first = decoded.output.tokens[0].id
    assert first in (own[0], twin)
    other = own[0] + twin - first
    by = Scripted(lambda source, begun: (*begun, other))
    assert_same(answers(twins, [Request("A cat")], by), [decoded])
    assert len(by.asked) == 1


def test_verification_of_drafts_by_hand() -> None:
    never = torch.tensor([0])
    sure = torch.tensor([[9.0, 1, 5, 2], [9, 1, 2, 5], [9, 5, 2, 1]]).log_softmax(-1)
    assert verified((2, 3, 1), sure, never, 0) == (2, 3, 1)
    assert verified((2, 1, 1), sure, never, 0) == (2, 3)
    assert verified((1, 1, 1), sure, never, 0) == (2,)
    assert verified((1, 1, 1), sure, never, 1) == (1, 3)  # the first was given
    assert verified((2, 3), sure, never, 0) == (2, 3)  # the rest is padding
    near = sure.clone()
    near[1, 2] = near[1, 3] - 5e-5
    assert verified((2, 3, 1), near, never, 0) is None
    assert verified((1, 3, 1), near, never, 0) == (2,)  # the pass tells nothing behind it
    assert verified((2, 3, 1), sure * torch.nan, never, 0) is None


def test_a_drafter_that_fails(
    shipped: Bundle,
    drafter: Drafter,
    alone: list[Trace],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(drafter, "never", [["no such word"]])
    assert_same(answers(shipped, [Request(SENTENCES[1], select=SELECT)], drafter), alone[1:2])
    assert {record.levelname for record in caplog.records} == {"WARNING"}
    caplog.clear()
