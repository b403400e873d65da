"""A model as an application of Ray Serve: the number, resources and routing of its replicas.

`serve run app.scale.application:engine model=en-zh gpus=0.25 most=4`, or `python -m app.scale`.
"""

import logging.config
from dataclasses import replace
from functools import partial

from pydantic import BaseModel, ConfigDict, Field, model_validator
from ray import serve
from ray.serve.config import AutoscalingConfig, RequestRouterConfig
from ray.serve.deployment import Application

from app.engine.child_process import Opening
from app.engine.start_engines import load_catalog
from app.http import log_format
from app.scale.replica import Replica
from app.settings import Settings

ONGOING = 32  # turns per replica, including the running one; others wait in their server
HEALTH_SECONDS = 2.0
END_SECONDS = 30.0  # for running work to finish when a replica is stopped


class EngineArguments(BaseModel):
    """Arguments of an application."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str = Field(description="id, or id=path, as in HEADLIGHT_MODELS")
    cpus: float = Field(default=1.0, ge=0, description="cores of a replica")
    gpus: float = Field(default=0.0, ge=0, description="GPUs of a replica; 0.25: four share one")
    least: int = Field(default=1, ge=1, description="replicas without load")
    most: int = Field(default=1, ge=1, description="replicas under load")
    load: float = Field(default=2.0, gt=0, description="target number of turns per replica")

    @model_validator(mode="after")
    def _in_order(self) -> "EngineArguments":
        if self.most < self.least:
            raise ValueError(f"most must be at least {self.least}, the value of least: {self.most}")
        return self


def engine(args: EngineArguments) -> Application:
    """Return the application of one model, to deploy under the model's id.

    Replicas use the HEADLIGHT_DEVICE, _DRAFT and _LOG of the environment in which this is called.
    """
    settings = Settings(models=args.model)
    deployment = serve.deployment(
        Replica,
        name="engine",
        ray_actor_options={"num_cpus": args.cpus, "num_gpus": args.gpus},
        autoscaling_config=AutoscalingConfig(
            min_replicas=args.least,
            initial_replicas=args.least,
            max_replicas=args.most,
            target_ongoing_requests=args.load,
        ),
        max_ongoing_requests=ONGOING,
        health_check_period_s=HEALTH_SECONDS,
        graceful_shutdown_timeout_s=END_SECONDS,
        request_router_config=RequestRouterConfig(
            request_router_class=f"{__package__}.runner:StreamsStay",
            request_router_kwargs={"num_fallback_replicas": 0},
        ),
    )
    return deployment.bind(_opening(settings, args))


def _opening(settings: Settings, args: EngineArguments) -> Opening:
    load = replace(load_catalog(settings), max_models=1, zoo={})
    log = log_format.config(settings.log, settings.log_requests)
    return Opening(load, partial(logging.config.dictConfig, log), max(1, round(args.cpus)))
