"""Two texts of an encoder, against `tokenizer(text, pair)` and the library's eager attention."""

from copy import deepcopy
from functools import cache
from typing import Any

import pytest
import torch
from torch import Tensor

from model.adapters.requests.request import Request
from model.errors import InputError
from model.trace.interventions import Intervention

pytest.importorskip("transformers")

import transformers as hf

from model.adapters.huggingface.huggingface_adapter import HuggingFace
from model.adapters.huggingface.models_in_memory import wrap
from tests.model.paired_tokenizers import PAIRED
from tests.model.tiny_huggingface import FED, build

FIRST, SECOND = "The cat sat on the mat.", "a dog ran"
DISTILBERT = {
    "dim": 32,
    "n_layers": 2,
    "n_heads": 4,
    "hidden_dim": 48,
    "max_position_embeddings": 64,
}
# The model's class and the options of its config, by the tokenizer that it is tried with.
MODELS: dict[str, tuple[str, str, dict[str, Any], str]] = {
    "bert": ("BertForMaskedLM", "BertConfig", FED, "bert"),
    "three-types": ("BertForMaskedLM", "BertConfig", {**FED, "type_vocab_size": 3}, "xlnet"),
    "albert": ("AlbertModel", "AlbertConfig", {**FED, "embedding_size": 16}, "words"),
    "electra": (
        "ElectraForSequenceClassification",
        "ElectraConfig",
        {**FED, "embedding_size": 16},
        "bert",
    ),
    "roberta": ("RobertaForMaskedLM", "RobertaConfig", {**FED, "type_vocab_size": 1}, "roberta"),
    "xlm-roberta": (
        "XLMRobertaForMaskedLM",
        "XLMRobertaConfig",
        {**FED, "type_vocab_size": 1},
        "xlm-roberta",
    ),
    "distilbert": ("DistilBertForMaskedLM", "DistilBertConfig", DISTILBERT, "bert"),
    "modernbert": ("ModernBertForMaskedLM", "ModernBertConfig", FED, "roberta"),
    "no-types": ("DebertaV2ForMaskedLM", "DebertaV2Config", {**FED, "type_vocab_size": 0}, "bert"),
    "eager-types": (
        "DebertaV2ForMaskedLM",
        "DebertaV2Config",
        {**FED, "type_vocab_size": 2},
        "bert",
    ),
}


@cache
def opened(name: str) -> tuple[HuggingFace, Any, Any]:
    """Return a tiny random model behind the adapter; the library's own copy; its tokenizer."""
    class_, config, options, kind = MODELS[name]
    words = PAIRED[kind]()
    ids = {"pad_token_id": words.pad_token_id, "eos_token_id": words.sep_token_id}
    described = getattr(hf, config)(vocab_size=len(words), **{**ids, **options})
    described._attn_implementation = "eager"
    torch.manual_seed(0)
    made = getattr(hf, class_)(described).eval()
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.normal_(std=0.3)
    return wrap(made, words), deepcopy(made), words


@torch.no_grad()
def theirs(name: str, texts: list[str], pairs: list[str | None]) -> tuple[list[Tensor], Tensor]:
    """Return the library's weights by layer, and its first output, of each text alone."""
    _, library, words = opened(name)
    [text], [pair] = texts, pairs
    inputs = words(text, pair, return_tensors="pt")
    out = library(**inputs, output_attentions=True)
    return [layer[0] for layer in out.attentions], out[0][0]


def ours(trace: Any) -> list[Tensor]:
    return [trace[f"{place}.weights"].value for place in trace.model.places]


def close(trace: Any, expected: list[Tensor], length: int | None = None) -> None:
    for mine, their in zip(ours(trace), expected, strict=True):
        rows = their.shape[1]
        assert length is None or mine.shape[1] == length
        assert torch.allclose(mine[:, :rows, :rows], their, atol=1e-5)
        assert not mine[:, :rows, rows:].any()


@pytest.mark.parametrize("name", MODELS)
def test_a_pair_is_that_of_the_tokenizer(name: str) -> None:
    model, _, words = opened(name)
    trace = model.trace(FIRST, pair=SECOND)
    assert [token.id for token in trace.texts["text"]] == words(FIRST, SECOND)["input_ids"]
    expected, _ = theirs(name, [FIRST], [SECOND])
    close(trace, expected, len(words(FIRST, SECOND)["input_ids"]))
    other, _ = theirs(name, [FIRST], [None])
    assert expected[0].shape != other[0].shape


@pytest.mark.parametrize("name", [name for name in MODELS if "types" in name or name == "bert"])
def test_token_types_matter(name: str) -> None:
    """The types of the tokenizer are used: without them the numbers are others."""
    _, library, words = opened(name)
    inputs = words(FIRST, SECOND, return_tensors="pt")
    expected, _ = theirs(name, [FIRST], [SECOND])
    del inputs["token_type_ids"]
    with torch.no_grad():
        untyped = library(**inputs, output_attentions=True).attentions[0][0]
    assert torch.allclose(untyped, expected[0], atol=1e-5) == (name == "no-types")


@pytest.mark.parametrize("name", MODELS)
def test_pairs_in_a_batch_and_padded(name: str) -> None:
    model, _, words = opened(name)
    sent = [(FIRST, SECOND), ("a cat", None), ("the", "The cat sat on the mat. a dog ran")]
    requests = [Request(text, pair=pair, pad_to=40) for text, pair in sent]
    if "padding" not in model.info.capabilities:
        requests = [Request(text, pair=pair) for text, pair in sent]
    for (text, pair), trace in zip(sent, model.run(requests), strict=True):
        close(trace, theirs(name, [text], [pair])[0])
        real = [token.id for token in trace.texts["text"]][: len(words(text, pair)["input_ids"])]
        assert real == words(text, pair)["input_ids"]


@pytest.mark.parametrize("name", MODELS)
def test_tokens_say_whose_they_are(name: str) -> None:
    model, _, words = opened(name)
    tokens = model.trace(FIRST, pair=SECOND).texts["text"]
    owners = words(FIRST, SECOND).sequence_ids()
    begin = owners.index(1)
    assert [token.pair for token in tokens] == [index >= begin for index in range(len(tokens))]
    for token, owner in zip(tokens, owners, strict=True):
        text = (FIRST, SECOND)[owner or 0]
        covered = text[token.start : token.end]
        assert owner is not None or (token.special and not covered)
        if covered and not token.special:
            assert token.text.strip() == covered


def test_a_mask_in_either_text_is_filled() -> None:
    model, library, words = opened("bert")
    trace = model.trace("the [MASK] sat", pair="a [MASK] ran")
    with torch.no_grad():
        logits = library(**words("the [MASK] sat", "a [MASK] ran", return_tensors="pt")).logits[0]
    masks = [i for i, id_ in enumerate(words("the [MASK] sat", "a [MASK] ran")["input_ids"])
             if id_ == words.mask_token_id]  # fmt: skip
    assert trace.output.rows == tuple(masks)
    assert [token.pair for token in trace.output.tokens] == [False, True]
    for row, token, logprob in zip(masks, trace.output.tokens, trace.output.logprobs, strict=True):
        assert logprob == pytest.approx(logits[row].log_softmax(-1)[token.id].item(), abs=1e-5)
    first, second = (token.text.strip() for token in trace.output.tokens)
    assert trace.output.text == f"the {first} sat\na {second} ran"


def test_a_long_pass_reads_the_types() -> None:
    model, _, _ = opened("bert")
    request = Request(FIRST, pair=SECOND)
    long = model.long(request, torch.float32)
    trace = model.trace(request, select=("*.weights",))
    for place in model.info.places:
        expected = trace[f"{place}.weights"].value
        rows = slice(0, expected.shape[1])
        for head, weights in enumerate(expected):
            assert torch.allclose(long.at(place).head(head).weights(rows, rows), weights, atol=1e-5)


def test_changes_and_sweeps_of_a_pair() -> None:
    """The sum of a head's changes is that of a run with the library's own hooks removed: zeros."""
    model, library, words = opened("bert")
    trace = model.trace(
        FIRST,
        pair=SECOND,
        interventions=[Intervention("encoder.0.self", "zero")],
        select=("encoder.1.self.weights",),
    )
    changed = deepcopy(library)
    with torch.no_grad():
        changed.bert.encoder.layer[0].attention.output.dense.weight.zero_()
        out = changed(**words(FIRST, SECOND, return_tensors="pt"), output_attentions=True)
    assert torch.allclose(trace["encoder.1.self.weights"].value, out.attentions[1][0], atol=1e-5)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("gpt2", "it is a decoder, which reads one text from left to right"),
        ("t5", "its second text is the target, which it writes"),
    ],
)
def test_models_without_pairs_say_why(name: str, why: str) -> None:
    theirs_, words = build(name)
    model = wrap(theirs_, words, name)
    with pytest.raises(InputError) as caught:
        model.trace("The cat", pair="a dog")
    assert caught.value.field == "pair"
    assert (
        str(caught.value)
        == f"pair: this model reads no pair of texts, because {why} ({model.info.name})"
    )


def test_a_tokenizer_without_a_template_is_refused() -> None:
    theirs_, words = build("roberta")  # bytes, with nothing around a text
    assert wrap(theirs_, words).info.missing["pair"] == "no-pair-template"


def test_a_model_with_too_few_types_is_refused() -> None:
    """The library's own embedding would fail on the index, on a GPU with the whole process."""
    options = {**FED, "type_vocab_size": 2}
    words = PAIRED["xlnet"]()
    model = hf.BertModel(hf.BertConfig(vocab_size=len(words), **options))
    assert wrap(model, words).info.missing["pair"] == "too-few-types"


@pytest.mark.parametrize("pair", ["", "  \n"])
def test_an_empty_second_text_is_an_error(pair: str) -> None:
    with pytest.raises(InputError, match="pair is empty") as caught:
        opened("bert")[0].trace(FIRST, pair=pair)
    assert caught.value.field == "pair"


def test_two_texts_share_the_length() -> None:
    with pytest.raises(InputError, match="this model reads at most 64 together") as caught:
        opened("bert")[0].trace("a " * 40, pair="a " * 40)
    assert caught.value.excess is not None
    assert caught.value.excess.value == 83


CONTROLS = ["[SEP]", "[CLS]", "[PAD]", "[UNK]", "<s>", "</s>", "<pad>", "<unk>"]


@pytest.mark.parametrize("kind", PAIRED)
@pytest.mark.parametrize("typed", CONTROLS)
def test_typed_control_strings_stay_text(kind: str, typed: str) -> None:
    name = next(name for name, made in MODELS.items() if made[3] == kind)
    model, _, words = opened(name)
    text = f"the cat {typed} sat {typed}"
    tokens = model.trace(text, pair=text).texts["text"]
    marks = {words.sep_token_id, words.cls_token_id, words.pad_token_id}
    template = words("the", "the")["input_ids"]
    for mark in marks:
        assert [token.id for token in tokens].count(mark) == template.count(mark)
    for second in (False, True):
        covered = {
            index
            for token in tokens
            if token.pair == second
            for index in range(token.start, token.end)
        }
        assert {index for index, sign in enumerate(text) if not sign.isspace()} <= covered
    plain = model.trace("the cat sat").texts["text"]
    assert [token.id for token in plain] == words("the cat sat")["input_ids"]


@pytest.mark.parametrize("kind", PAIRED)
def test_a_typed_mask_is_one_also_beside_control_strings(kind: str) -> None:
    name = next(name for name, made in MODELS.items() if made[3] == kind)
    model, _, words = opened(name)
    mask = words.mask_token
    text = f"the {mask} sat"
    beside = [token.id for token in model.trace(f"{text} {words.sep_token}").texts["text"]]
    alone = words(text)["input_ids"]
    assert beside.count(words.mask_token_id) == 1
    body = alone[: alone.index(words.sep_token_id)] if kind != "xlnet" else alone[:-2]
    assert beside[: len(body)] == body
