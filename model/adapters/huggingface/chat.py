"""Writes a text as a user's turn of a chat, with the tokenizer's chat template.

A template is a Jinja program in the model's folder. `transformers` runs it in a sandbox
(`ImmutableSandboxedEnvironment`), which gives it no access to files or to Python's objects.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from model.errors import InputError

MARK = "\ue000\ue001\ue000"  # private characters, to find the turn's place
LONGEST = 20_000  # characters that a template may add


@dataclass(frozen=True)
class Turn:
    """A text within what a template makes of it: `before` + text + `after`."""

    before: str
    text: str
    after: str
    start: int
    """Index of `text` in the text as sent: a template may strip it."""

    @property
    def whole(self) -> str:
        """What the model reads."""
        return self.before + self.text + self.after


class Chat:
    """A tokenizer's chat template."""

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer

    @cached_property
    def missing(self) -> str:
        """Why there is no usable template, as a reason of `ModelInfo`; empty if there is one."""
        if not self.tokenizer.chat_template:
            return "no-template"
        try:
            self.turn("Hello")
        except InputError:
            return "bad-template"
        return ""

    def turn(self, text: str) -> Turn:
        """Return a text as the user's turn, which the assistant is to answer.

        Raises `InputError` if the template fails, or does not contain the text as it is.
        """
        before, found, after = self._render(MARK).partition(MARK)
        whole = self._render(text)
        end = len(whole) - len(after)
        inner = whole[len(before) : end]
        fits = found and whole.startswith(before) and whole.endswith(after) and inner in text
        if not fits or MARK in after or end < len(before):
            detail = "chat: the model's chat template does not contain the text as it is"
            raise InputError("chat-template", "chat", detail)
        return Turn(before, inner, after, text.index(inner))

    def _render(self, text: str) -> str:
        try:
            made: str = self.tokenizer.apply_chat_template(
                [{"role": "user", "content": text}], tokenize=False, add_generation_prompt=True
            )
        except Exception as error:  # whatever a template raises
            detail = f"chat: the model's chat template failed: {type(error).__name__}"
            raise InputError("chat-template", "chat", detail) from error
        if len(made) > len(text) + LONGEST:
            detail = f"chat: the model's chat template adds more than {LONGEST} characters"
            raise InputError("chat-template", "chat", detail)
        return made
