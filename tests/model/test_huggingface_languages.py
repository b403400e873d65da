"""Many-language models of `transformers`, and tokenizers that cannot be used."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from model.adapters.huggingface.huggingface_adapter import HuggingFace, load_huggingface
from model.adapters.requests.request import Decode
from tests.model.tiny_huggingface import BART, make
from tests.model.tiny_tokenizers import tokenizer

hf: Any = pytest.importorskip("transformers")


def translator(folder: Path, target: str | None = "fra_Latn", forced: str | None = None) -> Path:
    """Write a tiny M2M100 with the tokenizer of NLLB, which names languages by tokens."""
    vocabulary = {"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3, "▁": 4}
    letters = "abcdefghijklmnopqrstuvwxyz."
    vocabulary |= {one: len(vocabulary) + index for index, one in enumerate(letters)}
    words = hf.NllbTokenizer(vocabulary, [], src_lang="deu_Latn", tgt_lang=target)
    config = hf.M2M100Config(**BART, vocab_size=len(words), pad_token_id=1, eos_token_id=2)
    torch.manual_seed(0)
    model = hf.M2M100ForConditionalGeneration(config)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.5)
    if forced:
        model.generation_config.forced_bos_token_id = words.convert_tokens_to_ids(forced)
    model.save_pretrained(folder)
    words.save_pretrained(folder)
    return folder


@pytest.mark.parametrize(
    ("target", "forced", "expected"),
    [("fra_Latn", None, "fra_Latn"), (None, "ita_Latn", "ita_Latn"), (None, None, None)],
)
@pytest.mark.parametrize("method", ["greedy", "beam"])
def test_outputs_begin_with_the_target_language(
    tmp_path: Path, target: str | None, forced: str | None, expected: str | None, method: Any
) -> None:
    adapter = load_huggingface(translator(tmp_path, target, forced), "cpu")
    words = adapter.text.tokenizer
    decode = Decode(method, beam=3, max_tokens=6, length_penalty=0)
    trace = adapter.trace("ein hund", decode=decode)
    source = [token.id for token in trace.texts["source"]]
    assert source == words("ein hund")["input_ids"]
    assert source[0] == words.convert_tokens_to_ids("deu_Latn")
    assert trace.output is not None
    written = [token.id for token in trace.output.tokens]
    first = words.convert_tokens_to_ids(expected) if expected else None
    never = [one for one in adapter.text.never.tolist() if one != first]
    found = adapter.model.generate(
        torch.tensor([source]),
        forced_bos_token_id=first,
        suppress_tokens=never,
        max_new_tokens=6,
        do_sample=False,
        num_beams=3 if method == "beam" else 1,
        length_penalty=0.0,
    )
    assert found[0, 1:].tolist() == written
    assert first is None or written[0] == first
    *_, last = adapter.decode("ein hund", decode=decode).steps
    assert list(last.written[0].ids) == written
    torch.testing.assert_close(
        torch.tensor(last.written[0].logprobs), torch.tensor(trace.output.logprobs)
    )


def test_a_given_target_begins_with_the_target_language(tmp_path: Path) -> None:
    adapter = load_huggingface(translator(tmp_path), "cpu")
    words = adapter.text.tokenizer
    trace = adapter.trace("ein hund", target="un chien")
    assert trace.output is not None
    expected = words(text_target="un chien")["input_ids"]
    assert [token.id for token in trace.output.tokens] == expected
    assert trace.output.tokens[0].text == "fra_Latn"
    assert [token.id for token in trace.texts["target"]] == [2, *expected[:-1]]


def test_another_token_can_be_chosen_after_the_language(tmp_path: Path) -> None:
    adapter = load_huggingface(translator(tmp_path), "cpu")
    words = adapter.text.tokenizer
    prefix = words.convert_tokens_to_ids(["fra_Latn", "c"])
    *_, last = adapter.decode("ein hund", decode=Decode(prefix=tuple(prefix), max_tokens=5)).steps
    assert list(last.written[0].ids[:2]) == prefix
    with pytest.raises(ValueError, match=r"decode.prefix\[1\]"):
        adapter.decode("ein hund", decode=Decode(prefix=(prefix[0], prefix[0]), max_tokens=5))


@pytest.mark.parametrize("told", [None, "BertJapaneseTokenizer", "CanineTokenizer"])
def test_a_slow_tokenizer_is_refused_with_what_to_do(tmp_path: Path, told: str | None) -> None:
    folder = make("bert", tmp_path)
    (folder / "tokenizer.json").unlink()
    if told:
        (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": told}))
        (folder / "vocab.txt").write_text("\n".join(tokenizer("wordpiece").get_vocab()))
    with pytest.raises(ValueError, match=r"tokenizer\.json.*save_pretrained") as refused:
        load_huggingface(folder, "cpu")
    assert str(folder) in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_folder_without_a_vocabulary_is_refused(tmp_path: Path) -> None:
    """`transformers` would return a tokenizer that turns every word into an unknown token."""
    folder = make("t5", tmp_path)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (folder / name).unlink()
    with pytest.raises(ValueError, match=r"has none of .*tokenizer\.json"):
        load_huggingface(folder, "cpu")


def test_a_slow_format_that_can_be_converted_is_read(tmp_path: Path) -> None:
    folder = make("bert", tmp_path)
    ids = tokenizer("wordpiece").get_vocab()
    (folder / "tokenizer.json").unlink()
    told = {"tokenizer_class": "BertTokenizer"}
    (folder / "tokenizer_config.json").write_text(json.dumps(told))
    (folder / "vocab.txt").write_text("\n".join(sorted(ids, key=lambda one: ids[one])))
    adapter: HuggingFace = load_huggingface(folder, "cpu")
    tokens = adapter.trace("the cat").texts["text"]
    assert [token.text for token in tokens if not token.special] == ["the", " cat"]
