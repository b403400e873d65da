"""Limits of training runs."""

from pydantic import Field

from app.settings.part import Part


class TrainingSettings(Part):
    """What training on the page may take."""

    max_runs: int = Field(
        default=1, ge=0, le=64, description="Training runs at once; 0 turns training off."
    )
    max_run_queue: int = Field(default=8, ge=0, description="Training runs waiting; then 503.")
    max_run_steps: int = Field(default=5_000, ge=10, le=100_000, description="Steps of one run.")
    max_run_minutes: float = Field(
        default=10.0, gt=0, description="Training time of one run in minutes, without pauses."
    )
    max_run_threads: int = Field(default=1, ge=1, le=64, description="Threads of one run.")
    run_nice: int = Field(
        default=19, ge=0, le=19, description="Niceness of a run's process: 19 is lowest priority."
    )
    max_run_unwatched_seconds: float = Field(
        default=120.0, gt=0, description="Seconds without a watcher after which a run is stopped."
    )
    max_runs_bytes: int = Field(
        default=2_000_000_000,
        ge=0,
        description="Bytes of all runs' snapshots; beyond it, the oldest ended run is deleted.",
    )
    keep_runs_minutes: float = Field(
        default=60.0, gt=0, description="Minutes for which an ended run is kept without requests."
    )
    max_kept_models: int = Field(
        default=20, ge=0, description="Models kept from training runs, in total; then 507."
    )
    keep_models_days: float = Field(
        default=90.0, gt=0, le=36_500, description="Days for which such a model is kept."
    )
