"""How much of a text fits into a number of tokens."""

from hypothesis import given, settings
from hypothesis import strategies as st

from model.bundle.weights import Bundle
from model.text.tokens import Token, fits

TEXTS = st.text(alphabet=st.sampled_from("aeiou tn, .的猫😀é\n"), max_size=200)


def characters(text: str) -> list[Token]:
    """One token per character, between two special ones."""
    special = Token("<s>", 0, 0, 0, True)
    return [
        special,
        *(Token(one, 1, at, at + 1, False) for at, one in enumerate(text)),
        special,
    ]


def test_it_ends_with_a_word() -> None:
    text = "one two three four"
    assert text[: fits(text, 12, characters)] == "one two"
    assert text[: fits(text, 15, characters)] == "one two three"
    assert fits(text, 20, characters) == len(text)
    assert fits("猫" * 30, 12, characters) == 10
    assert fits(text, 2, characters) == 0


@settings(deadline=None, max_examples=40)
@given(TEXTS, st.integers(3, 60))
def test_what_fits_has_no_more_tokens_and_the_next_words_do(
    shipped: Bundle, text: str, most: int
) -> None:
    eos = Token("<eos>", 2, 0, 0, True)

    def encode(part: str) -> list[Token]:
        return [*shipped.tokenizer.encode(part), eos]

    cut = fits(text, most, encode)
    assert cut <= len(text)
    assert cut == 0 or len(encode(text[:cut])) <= most
    if len(encode(text)) <= most:
        assert cut == len(text)
