"""A model behind its adapter: requests in, traces out, clear errors for bad ones."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import pytest
import torch

from model.adapters.encoder_decoder.encoder_decoder_adapter import EncoderDecoder
from model.adapters.encoder_decoder.passes import Row
from model.adapters.requests.request import Decode, Request
from model.errors import InputError
from model.trace.interventions import Intervention


def rebuilt(error: InputError) -> InputError:
    """Return the error as another process would get it."""
    return type(error)(*error.args)


LONG = "猫" * 63


@pytest.mark.parametrize(
    ("changes", "field", "kind", "words"),
    [
        ({"source": ""}, "source", "empty-text", "is empty"),
        ({"source": " \n▁"}, "source", "empty-text", "is empty"),
        ({"source": LONG}, "source", "text-too-long", "65 tokens; this model reads at most 64"),
        ({"target": LONG + "猫"}, "target", "text-too-long", "at most 64"),
        ({"target": " "}, "target", "empty-text", "is empty"),
        ({"direction": "en-fr"}, "direction", "unknown-direction", "en-zh, zh-en"),
        ({"select": ("x",)}, "select[0]", "unknown-tensor", "names no tensor"),
        ({"select": ("a",) * 300}, "select", "too-many-patterns", "256"),
        ({"pad_to": 3}, "pad_to", "out-of-range", "from 5 to 64"),
        ({"pad_to": 10**400}, "pad_to", "out-of-range", "to 64"),
        ({"pad_to": 10**9}, "pad_to", "out-of-range", "to 64"),
        ({"decode": Decode(cast(Any, "best"))}, "decode.method", "unknown-method", "greedy, beam"),
        ({"decode": Decode("sample", temperature=0)}, "decode.temperature", "out-of-range", "0.01"),
        ({"decode": Decode("sample", top_k=0)}, "decode.top_k", "out-of-range", "from 1"),
        ({"decode": Decode("sample", top_p=1.1)}, "decode.top_p", "out-of-range", "0 to 1"),
        ({"decode": Decode("sample", seed=-1)}, "decode.seed", "out-of-range", "from 0"),
        ({"decode": Decode("beam", beam=10**9)}, "decode.beam", "out-of-range", "1 to 16"),
        ({"decode": Decode(max_tokens=0)}, "decode.max_tokens", "out-of-range", "1 to 64"),
        (
            {"decode": Decode(length_penalty=float("nan"))},
            "decode.length_penalty",
            "out-of-range",
            "0 to 5",
        ),
        (
            {"interventions": (Intervention("encoder.9.self", "zero"),)},
            "interventions[0].at",
            "unknown-place",
            "decoder.0.cross",
        ),
        (
            {"interventions": (Intervention("encoder.0.self", "melt"),)},
            "interventions[0].do",
            "unknown-effect",
            "zero, uniform, mean, set, cut",
        ),
        (
            {"interventions": (Intervention("encoder.0.self", "drop"),)},
            "interventions[0].at",
            "unknown-place",
            "decoder.0.cross.residual",
        ),
        (
            {"interventions": (Intervention("target.position", "drop", 0),)},
            "interventions[0].head",
            "unknown-field",
            "must be left out: drop has no heads there",
        ),
        (
            {"interventions": (Intervention("encoder.0.self", "zero", 4),)},
            "interventions[0].head",
            "out-of-range",
            "from 0 to 3",
        ),
    ],
)
def test_bad_requests_are_named(
    tiny: EncoderDecoder, changes: dict[str, Any], field: str, kind: str, words: str
) -> None:
    request = Request(**{"source": "猫坐。", **changes})
    with pytest.raises(InputError) as caught:
        tiny.check(request)
    assert caught.value.field == field
    assert caught.value.kind == kind
    assert words in str(caught.value)
    across = rebuilt(caught.value)
    assert (across.kind, across.field, str(across)) == (kind, field, str(caught.value))


def test_the_shift_between_what_is_read_and_what_is_written(tiny: EncoderDecoder) -> None:
    trace = tiny.trace("The cat sat.", target="猫坐。")
    assert trace.texts["source"][0].text == "<2zh>"
    assert trace.texts["source"][-1].text == "<eos>"
    assert [token.text for token in trace.texts["target"]] == ["<bos>", "猫", "坐", "。"]
    assert [token.text for token in trace.output.tokens] == ["猫", "坐", "。", "<eos>"]
    assert trace.output.finished
    assert trace.output.text == "猫坐。"


def test_a_decoded_target_scores_as_when_it_is_given(tiny: EncoderDecoder) -> None:
    for method in ("greedy", "beam"):
        request = Request("我不知道。", decode=Decode(method, max_tokens=6), select=())
        decoded = tiny.trace(request)
        assert len(decoded.output.tokens) <= 6
        ids = [token.id for token in decoded.texts["target"][1:]]
        assert ids == [token.id for token in decoded.output.tokens[:-1]]


def test_logprobs_are_those_of_the_logits(tiny: EncoderDecoder) -> None:
    trace = tiny.trace("The cat", target="猫坐", select="decoder.logits")
    logprobs = trace.tensors["decoder.logits"].value.log_softmax(-1)
    ids = [token.id for token in trace.output.tokens]
    expected = logprobs[range(len(ids)), ids]
    torch.testing.assert_close(torch.tensor(trace.output.logprobs), expected)
    score = expected.sum().item() / ((5 + len(ids)) / 6) ** 0.6
    assert trace.output.score == pytest.approx(score, abs=1e-5)


def test_parameters_recompute_a_head(tiny: EncoderDecoder) -> None:
    place = "decoder.1.cross"
    parameters = tiny.parameters([f"{place}.*"])
    trace = tiny.trace("The cat", target="猫坐", select="*")
    x = trace.tensors["decoder.1.self.norm"].value
    q = x @ parameters[f"{place}.W_q"].value + parameters[f"{place}.b_q"].value
    expected = trace.tensors[f"{place}.q"].value  # (head, query, channel)
    torch.testing.assert_close(q.view(-1, 4, 8).transpose(0, 1), expected, atol=1e-5, rtol=1e-5)
    mix = trace.tensors[f"{place}.mix"].value.transpose(0, 1).flatten(1)
    output = mix @ parameters[f"{place}.W_o"].value + parameters[f"{place}.b_o"].value
    expected = trace.tensors[f"{place}.output"].value
    torch.testing.assert_close(output, expected, atol=1e-5, rtol=1e-5)
    with pytest.raises(InputError):
        tiny.parameters(["encoder.7.self.W_q"])


def test_every_parameter_has_a_name(tiny: EncoderDecoder) -> None:
    named = tiny.parameters(["*", "embedding"])
    assert sum(tensor.value.numel() for tensor in named.values()) == tiny.info.parameters
    assert "embedding" not in tiny.parameters(["*"])


def test_threads_do_not_interfere(tiny: EncoderDecoder) -> None:
    requests = [
        Request(
            "The cat sat.",
            target="猫坐" * (1 + index % 3),
            interventions=(Intervention("encoder.0.self", "zero", index % 4),),
        )
        for index in range(24)
    ]
    alone = [tiny.trace(request) for request in requests]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda request: tiny.trace(request), requests))
    for one, other in zip(alone, together, strict=True):
        for name, tensor in one.tensors.items():
            assert torch.equal(tensor.value, other.tensors[name].value)


def test_a_sentence_is_decoded_once(tiny: EncoderDecoder, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = Request("abc")
    first = tiny.run([plain])[0].output
    asked: list[int] = []
    decode = tiny._writer._written

    def counted(rows: Sequence[Row]) -> Any:
        asked.append(len(rows))
        return decode(rows)

    monkeypatch.setattr(tiny._writer, "_written", counted)
    zero = (Intervention("decoder.0.cross", "zero", None),)
    others = [Request("abc", select=("*.q",)), Request("abcd"), Request("abc", interventions=zero)]
    again, longer, changed = (trace.output for trace in tiny.run(others))
    assert asked == [2], "only what is new"
    assert again.tokens == first.tokens
    assert again.logprobs == pytest.approx(first.logprobs, abs=1e-5)
    assert (longer, changed) != (first, first)


def test_ranks_count_the_tokens_that_are_more_probable(tiny: EncoderDecoder) -> None:
    trace = tiny.trace("The cat sat.", target="猫坐在垫子上。", select="decoder.logits")
    for row, (token, rank) in enumerate(zip(trace.output.tokens, trace.output.ranks, strict=True)):
        order = trace["decoder.logits"].value[row].argsort(descending=True).tolist()
        assert order[rank - 1] == token.id
    greedy = tiny.trace("The cat sat.").output
    assert set(greedy.ranks) == {1}
