"""GET /api/zoo: tasks, the measurements of their models, and examples with their answers."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from app.engine.model_listing import Listing
from app.http.replies import problems
from app.http.route_dependencies import Opened
from app.zoo.schemas import ZooExampleReply, ZooReply
from app.zoo.service import answered, drawn, zoo

router = APIRouter(prefix="/zoo", tags=["zoo"])

Task = Annotated[str, Path(alias="task", examples=["reverse"])]


@router.get("", summary="List the tasks of the zoo, and how well its models learned them")
async def zoo_results(services: Opened, response: Response) -> ZooReply:
    """Return right answers by length, learning curves and what heads attend to, for every seed."""
    response.headers["Cache-Control"] = "no-cache"
    return zoo(services[Listing])


@router.get(
    "/{task}/example",
    summary="Draw an example of a task",
    responses=problems(_404="No such task.", _422="The task does not allow this length."),
)
async def zoo_example(
    name: Task,
    response: Response,
    length: Annotated[
        int | None, Query(ge=0, le=100, description="In the task's unit; if absent, 6 or less.")
    ] = None,
    seed: Annotated[int, Query(ge=0, le=2**32, description="Each seed gives another example.")] = 0,
) -> ZooExampleReply:
    """Return a text that is in no model's training data, with its right answer."""
    response.headers["Cache-Control"] = "no-cache"
    return drawn(name, length, seed)


@router.get(
    "/{task}/answer",
    summary="Solve a text",
    responses=problems(_404="No such task.", _422="The text does not fit the task."),
)
async def zoo_answer(
    name: Task,
    response: Response,
    source: Annotated[str, Query(min_length=1, max_length=500, examples=["a b c d"])],
) -> ZooExampleReply:
    """Return the text as the models read it, its right answer, and the tokens that determine it."""
    response.headers["Cache-Control"] = "no-cache"
    return answered(name, source)
