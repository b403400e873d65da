"""`python -m app.scale`: create or update the applications of HEADLIGHT_MODELS in a cluster.

HEADLIGHT_RAY_ADDRESS names the cluster. The arguments apply to each of the models.
"""

import sys
from argparse import ArgumentParser
from collections.abc import Sequence

import ray
from pydantic import ValidationError
from ray import serve

from app.scale.application import EngineArguments, engine
from app.settings import Settings


def main(arguments: Sequence[str] | None = None) -> int:
    """Deploy, and wait until the models answer; return the exit status."""
    parser = ArgumentParser("python -m app.scale", description=__doc__)
    for name, field in EngineArguments.model_fields.items():
        if name != "model":
            parser.add_argument(f"--{name}", default=field.default, help=field.description)
    options = vars(parser.parse_args(arguments))
    try:
        settings = Settings()
        applications = [
            EngineArguments(model=model, **options) for model in settings.models.split(",")
        ]
    except ValidationError as error:
        print(error, file=sys.stderr)
        return 2
    if not settings.ray_address:
        print("HEADLIGHT_RAY_ADDRESS must name the cluster", file=sys.stderr)
        return 2
    ray.init(settings.ray_address, log_to_driver=False)
    serve.start(proxy_location="Disabled")
    for name, args in zip(settings.bundles, applications, strict=True):
        serve.run(engine(args), name=name, route_prefix=None)
        print(f"{name} is served by {args.least} to {args.most} replicas", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
