"""Requests and replies about texts of readers, which are indexed for the pages about heads."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from app.http.fields import Name, Strict, Text


class CorpusRequest(Strict):
    """A text to index."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"model": "en-zh", "text": "The cat sat on the mat.\nI know him."}]
        }
    )

    model: Name = Field(description="An id of `GET /api/models`.")
    text: Text = Field(
        description="A line is a sentence, or a sentence and its translation with a tab between "
        "them: then the translation is read instead of the model's own, in every direction."
    )
    split: Literal["lines", "sentences"] = Field(
        default="lines", description="`sentences`: lines are split after marks that end a sentence."
    )
    title: Annotated[Text, Field(max_length=100, description="What the pages call it.")] = ""


class CorpusReply(BaseModel):
    """A text, and how far it is indexed."""

    id: str
    model: str
    title: str
    given: int = Field(description="Sentences that were sent.")
    state: Literal["queued", "running", "done", "failed"]
    done: int = Field(description="Sentences indexed so far, in all directions.")
    of: int = Field(description="Sentences to index, in all directions; 0: not known yet.")
    why: str | None = Field(
        description="Why it failed: `unreadable` (the model can read none of the sentences), "
        "`too-slow`, `stopped` (the server was), `crashed`, or `storage-full` and "
        "`storage-unavailable` (its index could not be written)."
    )
    created: str
    expires: str = Field(description="When it is deleted.")


class CorpusCreated(CorpusReply):
    """A text that was added to the queue."""

    url: str = Field(description="The page with its heads. Anyone with the link can open it.")
    key: str = Field(description="Deletes the text: `Corpus-Key` of `DELETE /api/corpora/{id}`.")
