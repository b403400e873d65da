"""Drafts change how long a translation takes and nothing else, whatever they say."""

import logging
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from model.adapters.draft import Drafter, Drafts, Ids, open_drafter
from model.adapters.encoder_decoder import EncoderDecoder, load
from model.adapters.request import Decode, Request, Trace
from model.adapters.verify_drafts import TRIES, verified
from model.bundle import ctranslate2_export
from model.bundle.ctranslate2_export import UnknownToEngineError, exported, specification
from model.bundle.weights import CHECKPOINTS, Bundle, load_bundle
from model.text.tokens import Tokenizer
from model.trace.interventions import Intervention
from model.transformer.config import ModelConfig
from model.transformer.stacks import Transformer

SENTENCES = [
    "Hi.",
    "The old animal didn't cross the street because it was too tired.",
    "I don't know who she is.",
    "Two children are playing with a red ball in front of the house while it rains.",
    "There is a book about the history of trains, and nobody has ever read it to the end.",
    "How much is this?",
    "你好。",
    "我不知道她是谁。",
    "两个孩子在房子前面玩一个红色的球，天在下雨。",
    "请给我一杯茶，不要糖。",
    "这本书我看了三遍，还是不明白它在说什么。",
    "他说他明天会来，可是我不相信。",
]
CLOSE = 1e-5
SELECT = ("*.weights", "decoder.logits")
OFTEN = settings(max_examples=12, deadline=None, derandomize=True, phases=(Phase.generate,))


class Scripted(Drafter):
    """Says what it is told to, and remembers how often it was asked, and for how many."""

    def __init__(self, say: Callable[[Ids, Ids], Ids]) -> None:
        self.say = say
        self.asked: list[int] = []

    def draft(self, sources: Sequence[Ids], begun: Sequence[Ids], most: int) -> Drafts:
        self.asked.append(len(sources))
        said = [self.say(*one) for one in zip(sources, begun, strict=True)]
        return lambda: said


class Noisy(Drafter):
    """Another's drafts with some tokens replaced, lost, doubled, or out of the vocabulary."""

    def __init__(self, drafter: Drafter, seed: int) -> None:
        self.drafter = drafter
        self.random = random.Random(seed)

    def draft(self, sources: Sequence[Ids], begun: Sequence[Ids], most: int) -> Drafts:
        drafts = self.drafter.draft(sources, begun, most)
        return lambda: [[noise for id_ in ids for noise in self._noise(id_)] for ids in drafts()]

    def _noise(self, id_: int) -> list[int]:
        if self.random.random() < 0.8:
            return [id_]
        other = self.random.randrange(8000)
        return self.random.choice([[], [id_, id_], [other], [id_, other], [-1], [8000], [0], [2]])


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("drafts")


@pytest.fixture(scope="module")
def shipped() -> Bundle:
    return load_bundle(CHECKPOINTS / "en-zh")


@pytest.fixture(scope="module")
def drafter(shipped: Bundle, cache: Path) -> Drafter:
    opened = open_drafter(shipped, cache)
    assert opened
    return opened


@pytest.fixture(autouse=True)
def _quiet(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """No draft fails unless a test says so."""
    yield
    assert not [record for record in caplog.get_records("call") if record.levelno > logging.INFO]


def answers(bundle: Bundle, requests: Sequence[Request], by: Drafter | None = None) -> list[Trace]:
    """What an adapter answers that has not answered before."""
    return EncoderDecoder(bundle, "model", None, by).run(requests)


def assert_same(traces: Sequence[Trace], others: Sequence[Trace]) -> None:
    for one, other in zip(traces, others, strict=True):
        assert one.texts == other.texts
        assert one.output.tokens == other.output.tokens
        assert one.output.ranks == other.output.ranks
        assert one.output.text == other.output.text
        np.testing.assert_allclose(one.output.logprobs, other.output.logprobs, atol=CLOSE)
        assert list(one.tensors) == list(other.tensors)
        for name in one:
            torch.testing.assert_close(one[name].value, other[name].value, atol=CLOSE, rtol=CLOSE)


def one_by_one(
    bundle: Bundle, requests: Sequence[Request], by: Drafter | None = None
) -> list[Trace]:
    return [trace for request in requests for trace in answers(bundle, [request], by)]


@pytest.fixture(scope="module")
def alone(shipped: Bundle) -> list[Trace]:
    """What decoding makes of the sentences."""
    return one_by_one(shipped, [Request(source, select=SELECT) for source in SENTENCES])


def test_alone_and_in_company_and_padded(
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
    mixed = [*requests[:6], *others, *requests[6:]]
    assert_same(answers(shipped, mixed, drafter), answers(shipped, mixed))
    padded = [replace(request, pad_to=60) for request in requests]
    assert_same(answers(shipped, padded, drafter), answers(shipped, padded))


def test_drafts_are_mostly_right(shipped: Bundle, drafter: Drafter, alone: list[Trace]) -> None:
    """Or else they cost time in place of saving it, and nothing would show it."""
    sources = [[token.id for token in trace.texts["source"]] for trace in alone]
    drafts = drafter.draft(sources, [()] * len(sources), 128)()
    own = [[token.id for token in trace.output.tokens] for trace in alone]
    assert sum(map(list.__eq__, map(list, drafts), own)) >= 0.7 * len(own)


@pytest.mark.parametrize("source", [SENTENCES[4], SENTENCES[8]])
def test_every_length(shipped: Bundle, drafter: Drafter, source: str) -> None:
    """Cut off behind each token: what is asked for, and what is read."""
    cut = [Request(source, decode=Decode(max_tokens=most), select=()) for most in range(1, 40)]
    assert_same(answers(shipped, cut, drafter), answers(shipped, cut))
    read = [Request(source[:end], select=()) for end in range(1, len(source) + 1, 2)]
    assert_same(answers(shipped, read, drafter), answers(shipped, read))


def test_up_to_the_model_s_limit(shipped: Bundle, drafter: Drafter) -> None:
    """The longest source, and targets that end only where they must."""
    requests = [
        Request("a cat " * 20, select=()),
        Request("no " * 124, select=()),
        Request("1 2 3 4 " * 25, select=()),
        Request("哈" * 120, decode=Decode(max_tokens=127), select=()),
    ]
    decoded = answers(shipped, requests)
    assert max(len(trace.output.tokens) for trace in decoded) == 128
    assert_same(answers(shipped, requests, drafter), decoded)


def test_from_a_prefix(shipped: Bundle, drafter: Drafter, alone: list[Trace]) -> None:
    """One that it would have written, and one that it would not."""
    ids = [token.id for token in alone[3].output.tokens]
    for prefix in (ids[:4], ids[2:5], ids[-3:-1]):
        request = Request(SENTENCES[3], decode=Decode(prefix=tuple(prefix)), select=SELECT)
        assert_same(answers(shipped, [request], drafter), answers(shipped, [request]))


@pytest.mark.parametrize("seed", range(3))
def test_noise_on_the_drafts(
    shipped: Bundle, drafter: Drafter, alone: list[Trace], seed: int
) -> None:
    requests = [Request(source, select=SELECT) for source in SENTENCES]
    assert_same(answers(shipped, requests, Noisy(drafter, seed)), answers(shipped, requests))


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
def test_whatever_a_draft_says(
    shipped: Bundle, alone: list[Trace], lie: Callable[[Ids, Ids], Ids]
) -> None:
    requests = [Request(source, select=SELECT) for source in SENTENCES[:3]]
    by = Scripted(lie)
    assert_same(one_by_one(shipped, requests, by), alone[:3])
    assert len(by.asked) <= TRIES * len(requests)


@OFTEN
@given(said=st.lists(st.lists(st.integers(-3, 410), max_size=70), min_size=1, max_size=4))
def test_whatever_drafts_say(tiny: EncoderDecoder, said: list[list[int]]) -> None:
    """Of a model that has learned nothing: its tokens are hardly more probable than others."""
    bundle = bundle_of(tiny)
    drafts = iter(said * 100)
    requests = [Request(source, select=SELECT) for source in ("A cat", "猫坐在垫子上。", "the dog")]
    by = Scripted(lambda source, begun: (*begun, *next(drafts)))
    assert_same(answers(bundle, requests, by), answers(bundle, requests))


def bundle_of(tiny: EncoderDecoder) -> Bundle:
    return Bundle(
        "tiny", tiny.info.languages, tiny.model, tiny.tokenizer, "", "", tiny.rows.detector
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
    monkeypatch.setattr(model._writer, "_reader", None)  # nothing is decoded
    for _ in range(2):  # and then remembered
        assert_same(model.run(requests), alone)
    assert by.asked == [len(requests)]


def test_who_is_not_drafted(shipped: Bundle) -> None:
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
    """Twins in the vocabulary are equally probable: a draft's may not stand for the other."""
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


def test_what_a_pass_tells_of_a_draft() -> None:
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


def test_without_the_package(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, alone: list[Trace]
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "ctranslate2"]:
        monkeypatch.setitem(sys.modules, name, None)
    model = load("en-zh", "cpu", drafts=tmp_path)
    assert isinstance(model, EncoderDecoder)
    assert model.drafter is None
    assert_same(model.run([Request(SENTENCES[1], select=SELECT)]), alone[1:2])


def test_the_weights_stay_what_they_are(bundle: Path, tmp_path: Path) -> None:
    """CTranslate2 quantizes in place what it is given."""
    loaded = load_bundle(bundle)
    before = {name: value.clone() for name, value in loaded.model.state_dict().items()}
    exported(loaded, tmp_path)
    for name, value in loaded.model.state_dict().items():
        assert torch.equal(value, before[name]), name


def test_the_cache_is_written_once(shipped: Bundle, tmp_path: Path) -> None:
    folder = exported(shipped, tmp_path / "new")
    written = (folder / "model.bin").stat().st_mtime_ns
    assert exported(shipped, tmp_path / "new") == folder
    assert (folder / "model.bin").stat().st_mtime_ns == written
    other = replace(shipped, digest="another")
    assert exported(other, tmp_path / "new") != folder


@pytest.mark.parametrize("broken", ["model.bin", "config.json", "shared_vocabulary.json"])
def test_a_broken_cache_is_written_anew(
    shipped: Bundle, tmp_path: Path, broken: str, caplog: pytest.LogCaptureFixture
) -> None:
    file = exported(shipped, tmp_path) / broken
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    assert open_drafter(shipped, tmp_path)
    assert file.read_bytes() == whole
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    caplog.clear()


def test_what_a_killed_process_left_is_not_taken(shipped: Bundle, tmp_path: Path) -> None:
    folder = tmp_path / f"{shipped.digest}-{ctranslate2_export.STORED}"
    partial = folder.with_suffix(".partial")
    partial.mkdir()
    (partial / "model.bin").write_bytes(b"half")
    assert open_drafter(shipped, tmp_path)
    assert (folder / "model.bin").stat().st_size > 10**6
    assert not partial.exists()


def test_a_cache_that_cannot_be_written(
    tmp_path: Path, alone: list[Trace], caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("in the way")
    model = load("en-zh", "cpu", drafts=tmp_path / "file")
    assert_same(model.run([Request(SENTENCES[1], select=SELECT)]), alone[1:2])
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    caplog.clear()


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


def made(tokenizer: Tokenizer, **variant: str) -> Bundle:
    """A model that nobody trained, with weights of a size that makes it choose."""
    sizes = {"d_model": 32, "heads": 4, "d_ff": 64, "encoder_layers": 2, "decoder_layers": 3}
    torch.manual_seed(3)
    config = ModelConfig(vocabulary=len(tokenizer), max_tokens=40, **sizes, **variant)  # type: ignore[arg-type]
    model = Transformer(config).eval()
    for name, parameter in model.named_parameters():
        one = name.endswith("norm.weight")
        torch.nn.init.normal_(parameter, mean=float(one), std=0.25)
        if name.endswith("W_k.bias"):
            torch.nn.init.zeros_(parameter)
    shipped = load_bundle(CHECKPOINTS / "en-zh").detector
    return Bundle("made", ("en", "zh"), model, tokenizer, "made", "", shipped)


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("positions", ["sinusoidal", "learned"])
def test_what_is_exported_is_the_model(
    tokenizer: Tokenizer, tmp_path: Path, norm: str, positions: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each kind that CTranslate2 knows decodes as ours does, where nothing is rounded to bytes."""
    monkeypatch.setattr(ctranslate2_export, "STORED", "float32")
    bundle = made(tokenizer, norm=norm, positions=positions)
    by = open_drafter(bundle, tmp_path)
    assert by
    decoded = answers(bundle, [Request(source) for source in ("A cat sat.", "猫", "the dog ran")])
    sources = [[token.id for token in trace.texts["source"]] for trace in decoded]
    drafts = by.draft(sources, [()] * len(sources), 40)()
    assert [list(ids) for ids in drafts] == [[t.id for t in one.output.tokens] for one in decoded]


@pytest.mark.parametrize(
    "variant",
    [
        {"positions": "rotary"},
        {"positions": "relative"},
        {"positions": "none"},
        {"scoring": "dot"},
        {"encoder_mask": "window-3"},
        {"decoder_mask": "causal & window-4"},
    ],
)
def test_what_the_engine_does_not_know(
    tokenizer: Tokenizer, tmp_path: Path, variant: dict[str, str]
) -> None:
    bundle = made(tokenizer, **variant)
    with pytest.raises(UnknownToEngineError, match=next(iter(variant.values())).split()[0]):
        specification(bundle)
    assert open_drafter(bundle, tmp_path) is None
