"""The models that are served, and the limits of a request to them."""

from typing import Literal

from pydantic import Field

from app.settings.base import ZOO, Part


class ModelSettings(Part):
    """Which models to serve, on what, and what one request may ask."""

    models: str = Field(
        default="en-zh,en-zh-4-heads",
        pattern=r"^[a-z0-9-]+(=[^,]+)?(, *[a-z0-9-]+(=[^,]+)?)*$",
        description="Models to serve: id=path,…; the first is the default. A path is that of a "
        "bundle, or hf: and that of a Hugging Face model, or hf:owner/name[@revision] of a hub; an "
        "id alone is a bundle that ships with Headlight.",
    )
    corpora: str = Field(
        default="",
        pattern=r"^([a-z0-9-]+=[^,]+(, *[a-z0-9-]+=[^,]+)*)?$",
        description="Indexed sentences for the pages about heads: id=folder,…, each written by "
        "`python -m model measure corpus --index` for the model of that id.",
    )
    zoo: bool = Field(
        default=True, description="Serve the small models of the zoo as well as MODELS."
    )
    download: bool = Field(
        default=False,
        description="Download models of a hub (hf:owner/name) that are not in the cache yet.",
    )
    device: Literal["auto", "cpu", "cuda", "mps"] = Field(
        default="auto",
        description="Device that runs the models; auto is the CUDA GPU if there is one.",
    )
    dtype: Literal["float32", "bfloat16", "float16", "auto"] | None = Field(
        default=None,
        description="Precision of Hugging Face models: float32 by default; auto is as stored.",
    )
    engines: int | None = Field(
        default=None,
        ge=0,
        le=64,
        description="Processes that run models; 0 runs them on threads of the server. "
        "By default, one per GPU, or one for every two cores without a GPU.",
    )
    ray_address: str | None = Field(
        default=None,
        pattern=r"^[^\s/]+:\d+$",
        description="host:port of a Ray cluster that runs the models; none by default.",
    )
    draft: bool = Field(
        default=True,
        description="Draft greedy translations with CTranslate2 if it is installed; the results "
        "are the same, but faster.",
    )
    max_models: int = Field(
        default=2, ge=1, description="Models loaded at once; the least recently used is unloaded."
    )
    max_text_characters: int = Field(default=2_000, ge=1, description="Length of a sentence.")
    max_long_characters: int = Field(
        default=50_000, ge=1, description="Length of a long text, of which pictures are sent."
    )
    max_long_seconds: float = Field(
        default=600.0,
        gt=0,
        description="Longest wait for a long text, or for a share with a sweep; then 503.",
    )
    max_cells: int = Field(
        default=262_144, ge=4_096, description="Cells of one picture of a head of a long text."
    )
    max_pass_bytes: int = Field(
        default=1_000_000_000,
        ge=0,
        description="Bytes of queries and keys of long texts kept in each engine process.",
    )
    pass_precision: Literal["int16", "float32"] = Field(
        default="int16", description="Precision in which these are kept."
    )
    max_free_bytes: int = Field(
        default=1_300_000_000,
        ge=0,
        description="Freed memory that each engine process keeps for the next request.",
    )
    max_interventions: int = Field(default=64, ge=0, description="Interventions in one request.")
    max_values: int = Field(
        default=16_000_000,
        ge=1_000,
        description="Numbers in one reply; in JSON, a quarter.",
    )
    max_positions: int = Field(
        default=1_024, ge=1, description="Length and d_model of a table of positional encodings."
    )
    max_queue: int = Field(
        default=512, ge=1, description="Requests waiting for one model; then 503."
    )
    max_streams: int = Field(
        default=64,
        ge=1,
        description="Streams of one model open at once, half of them by one client; then 503.",
    )
    max_batch: int = Field(default=8, ge=1, description="Requests that the model runs together.")
    max_wait_seconds: float = Field(
        default=30.0, gt=0, description="Longest wait for a model; then 503, at once if foreseen."
    )
    max_work: float = Field(
        default=1_000_000,
        gt=0,
        description="Work of one request (layers × rows × tokens), and of all that an idle "
        "client may send at once.",
    )
    work_per_second: float = Field(
        default=20_000,
        gt=0,
        description="Work per second that a client may request in the long run; then 429.",
    )

    @property
    def bundles(self) -> dict[str, str]:
        """Models by id; each value is an argument of `model.adapters.open_model.open_model`."""
        pairs = (entry.strip().partition("=") for entry in self.models.split(","))
        return {name: path or name for name, _, path in pairs}

    @property
    def corpus_folders(self) -> dict[str, str]:
        """Folders of indexed sentences by the id of the model."""
        pairs = (entry.strip().partition("=") for entry in self.corpora.split(",") if entry)
        return {name: path for name, _, path in pairs}

    @property
    def zoo_bundles(self) -> dict[str, str]:
        """The models of the zoo by id, except ids that `models` already uses."""
        names = sorted(path.name for path in ZOO.iterdir()) if self.zoo else []
        bundles = {f"zoo-{name}": f"zoo/{name}" for name in names}
        return {id_: path for id_, path in bundles.items() if id_ not in self.bundles}
