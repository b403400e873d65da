"""GET /api/zoo: tasks, what was measured of their models, examples with their answers."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from app.answers.zoo import answered, drawn, zoo
from app.dependencies import Opened
from app.http.replies import problems
from app.schemas.zoo import ZooExampleReply, ZooReply

router = APIRouter(prefix="/zoo", tags=["zoo"])

Task = Annotated[str, Path(alias="task", examples=["reverse"])]


@router.get("", summary="Tasks, and how well the models of the zoo learned them")
async def zoo_results(services: Opened, response: Response) -> ZooReply:
    """Right answers by length, learning curves and what heads look at, of every seed."""
    response.headers["Cache-Control"] = "no-cache"
    return zoo(services.catalog)


@router.get(
    "/{task}/example",
    summary="An example of a task",
    responses=problems(_404="No such task.", _422="A length that the task does not have."),
)
async def zoo_example(
    name: Task,
    response: Response,
    length: Annotated[
        int | None, Query(ge=0, le=100, description="As the task counts it; absent: 6 at most.")
    ] = None,
    seed: Annotated[int, Query(ge=0, le=2**32, description="Another example for another.")] = 0,
) -> ZooExampleReply:
    """A text that no model has in its training data, with its right answer."""
    response.headers["Cache-Control"] = "no-cache"
    return drawn(name, length, seed)


@router.get(
    "/{task}/answer",
    summary="The right answer to a text",
    responses=problems(_404="No such task.", _422="The text is none of the task."),
)
async def zoo_answer(
    name: Task,
    response: Response,
    source: Annotated[str, Query(min_length=1, max_length=500, examples=["a b c d"])],
) -> ZooExampleReply:
    """The text as the models read it, its right answer, and which tokens decide each part."""
    response.headers["Cache-Control"] = "no-cache"
    return answered(name, source)
