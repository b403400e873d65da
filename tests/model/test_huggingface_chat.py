"""A text as a user's turn of a chat, against the library's `apply_chat_template`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from model.adapters.requests.request import Decode, Request
from model.errors import InputError
from model.text.tokens import Token
from model.trace.interventions import Intervention
from tests.model.tiny_huggingface import build, make

pytest.importorskip("transformers")

from model.adapters.huggingface.huggingface_adapter import HuggingFace, load_huggingface
from model.adapters.huggingface.models_in_memory import wrap
from model.adapters.huggingface.tokenizer import LONGEST

TURNS = (
    "{{ '<s>system\n:' }}{% for message in messages %}{{ message['role'] + ':\n' }}CONTENT"
    "{{ '</s>\n' }}{% endfor %}{% if add_generation_prompt %}{{ 'assistant:\n' }}{% endif %}"
)
PLAIN = TURNS.replace("CONTENT", "{{ message['content'] }}")
STRIPPED = TURNS.replace("CONTENT", "{{ message['content'] | trim }}")
TEXTS = ["The cat sat.", "a", "s", "今天天气很好", "  The cat \n", "user:\n"]


def with_template(template: str) -> tuple[HuggingFace, Any]:
    theirs, words = build("llama")
    words.add_special_tokens({"additional_special_tokens": ["<s>"]})
    words.chat_template = template
    return wrap(theirs, words), words


def theirs(words: Any, text: str) -> list[int]:
    turn = [{"role": "user", "content": text}]
    found: list[int] = words.apply_chat_template(
        turn, add_generation_prompt=True, return_dict=False
    )
    return found


def covered(text: str, tokens: Sequence[Token]) -> str:
    """The characters of a text that its tokens cover, without spaces."""
    places = {at for token in tokens for at in range(token.start, token.end)}
    return "".join("".join(text[at] for at in sorted(places)).split())


@pytest.mark.parametrize("template", [PLAIN, STRIPPED])
@pytest.mark.parametrize("text", TEXTS)
def test_tokens_are_those_of_the_template(text: str, template: str) -> None:
    model, words = with_template(template)
    tokens = model.trace(text, chat=True).texts["text"]
    assert [token.id for token in tokens] == theirs(words, text)
    assert covered(text, tokens) == "".join(text.split())
    assert [token.special for token in tokens].count(True) == 2
    added = [token for token in tokens if token.template]
    assert all(token.end == token.start for token in added)
    assert all(token.template for token in tokens if token.special)
    own = "".join(token.text for token in tokens if not token.template and "<0x" not in token.text)
    assert own.strip() in text
    alone = model.trace(text).texts["text"]
    assert not any(token.template for token in alone)
    assert len(added) == len(tokens) - len([one for one in tokens if one.end > one.start])


def test_a_pad_token_that_ends_a_turn_is_no_padding() -> None:
    theirs_, words = build("llama")
    words.chat_template, words.pad_token = PLAIN, words.eos_token
    trace = wrap(theirs_, words).trace("The cat", chat=True, pad_to=40)
    shown = [token.text for token in trace.texts["text"]]
    assert shown.count("</s>") == 1
    assert shown[-1] == "<pad>"


def test_a_control_string_stays_text() -> None:
    model, words = with_template(PLAIN)
    text = "The </s> cat"
    tokens = model.trace(text, chat=True).texts["text"]
    assert [token.special for token in tokens].count(True) == 2
    assert covered(text, tokens) == "The</s>cat"
    assert len(tokens) > len(theirs(words, text))


def test_the_answer_is_the_greedy_continuation_of_the_chat() -> None:
    model, words = with_template(PLAIN)
    alone = model.trace("The cat", chat=True, decode=Decode(max_tokens=5))
    *_, last = model.decode("The cat", chat=True, decode=Decode(max_tokens=5)).steps
    written = tuple(token.id for token in alone.output.tokens[alone.output.continues :])
    assert last.written[0].ids == written
    assert alone.output.continues == len(theirs(words, "The cat")) - 1
    assert not any(token.template for token in alone.output.tokens[alone.output.continues :])
    marks = [token.template for token in alone.texts["text"]]
    assert [token.template for token in alone.output.tokens[:-1]] == marks[1:]
    plain = Request("The cat")
    _, found = model.run([plain, Request("The cat", chat=True, decode=Decode(max_tokens=5))])
    assert found.texts == alone.texts
    assert found.output.logprobs == pytest.approx(alone.output.logprobs, abs=1e-4)
    assert len(model.trace(plain).texts["text"]) < len(alone.texts["text"])


def test_a_text_that_does_not_fit_is_named() -> None:
    model, _ = with_template(PLAIN)
    with pytest.raises(InputError, match="this model reads at most 64") as caught:
        model.trace("The cat sat. " * 12, chat=True)
    assert caught.value.excess is not None
    fits = caught.value.excess.fits or 0
    assert 0 < fits < 12 * 13
    model.trace(("The cat sat. " * 12)[:fits], chat=True)


def test_the_pattern_of_another_turn_is_borrowed() -> None:
    model, _ = with_template(PLAIN)
    other = Intervention("decoder.0.self", "freeze", 1, Request("A dog.", chat=True))
    name = "decoder.0.self.weights"
    frozen = model.trace("The cat", chat=True, interventions=[other])[name].value[1]
    theirs_ = model.trace("A dog.", chat=True)[name].value[1]
    count = min(len(frozen), len(theirs_))
    assert frozen[:count, :count] == pytest.approx(theirs_[:count, :count])


@pytest.mark.parametrize(
    ("template", "reason"),
    [
        (None, "no-template"),
        ("{{ raise_exception('no') }}", "bad-template"),
        ("{{ messages[0]['content'] | upper }}", "bad-template"),
        ("{{ messages[0].__class__.__mro__ }}", "bad-template"),
        ("{{ messages[0]['content'] }}" + "x" * (LONGEST + 1), "bad-template"),
        ("{{ 'always the same' }}", "bad-template"),
        ("{{ undefined.attribute }}", "bad-template"),
    ],
)
def test_a_template_that_cannot_be_used_is_not_offered(template: str | None, reason: str) -> None:
    model, _ = with_template(template)  # type: ignore[arg-type]
    assert "chat" not in model.info.capabilities
    assert model.info.missing["chat"] == reason
    with pytest.raises(InputError, match="has no chat template, because") as caught:
        model.trace("The cat", chat=True)
    assert (caught.value.kind, caught.value.field) == ("unsupported", "chat")


def test_a_template_that_fails_for_one_text_is_named() -> None:
    picky = "{% if 'cat' in messages[0]['content'] %}{{ raise_exception('no') }}{% endif %}" + PLAIN
    model, _ = with_template(picky)
    assert "chat" in model.info.capabilities
    model.trace("The dog", chat=True)
    with pytest.raises(InputError, match="chat template failed") as caught:
        model.trace("The cat", chat=True)
    assert (caught.value.kind, caught.value.field) == ("chat-template", "chat")


def test_a_template_in_a_folder_is_read(tmp_path: Path) -> None:
    make("llama", tmp_path)
    assert "chat" not in load_huggingface(tmp_path, "cpu").info.capabilities
    (tmp_path / "chat_template.jinja").write_text(PLAIN)
    model = load_huggingface(tmp_path, "cpu")
    assert "chat" in model.info.capabilities
    assert len(model.trace("The cat", chat=True).texts["text"]) > 10
