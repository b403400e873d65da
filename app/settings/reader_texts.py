"""Limits of the texts that readers index."""

from pydantic import Field

from app.settings.part import Part


class ReaderTextSettings(Part):
    """What texts of readers for the pages about heads may take."""

    max_corpora: int = Field(
        default=1,
        ge=0,
        le=64,
        description="Texts of readers indexed at once for the pages about heads; 0: none.",
    )
    max_corpus_queue: int = Field(default=8, ge=0, description="Such texts waiting; then 503.")
    max_corpus_sentences: int = Field(default=1_000, ge=1, description="Sentences of one text.")
    max_corpus_characters: int = Field(default=60_000, ge=1, description="Length of one text.")
    max_corpus_seconds: float = Field(
        default=300.0, gt=0, description="Longest time to index one text; then it has failed."
    )
    max_kept_corpora: int = Field(
        default=100, ge=1, description="Texts of readers kept, in total; then 507."
    )
    keep_corpora_hours: float = Field(
        default=24.0, gt=0, le=876_000, description="Hours for which such a text is kept."
    )
