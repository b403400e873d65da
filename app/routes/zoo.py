"""GET /api/zoo: tasks, the measurements of their models, and examples with their answers."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from app.answers.zoo import answered, drawn, zoo
from app.dependencies import Opened
from app.http.replies import problems
from app.schemas.zoo import ZooExampleReply, ZooReply

router = APIRouter(prefix="/zoo", tags=["zoo"])

Task = Annotated[str, Path(alias="task", examples=["reverse"])]


@router.get("", summary="The tasks, and how well the models of the zoo learned them")
async def zoo_results(services: Opened, response: Response) -> ZooReply:
    """Right answers by length, learning curves and where heads look, for every seed."""
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
        int | None, Query(ge=0, le=100, description="In the unit of the task; absent: at most 6.")
    ] = None,
    seed: Annotated[int, Query(ge=0, le=2**32, description="Each seed gives another example.")] = 0,
) -> ZooExampleReply:
    """A text that no model has in its training data, with its right answer."""
    response.headers["Cache-Control"] = "no-cache"
    return drawn(name, length, seed)


@router.get(
    "/{task}/answer",
    summary="The right answer to a text",
    responses=problems(_404="No such task.", _422="The text is not an input of the task."),
)
async def zoo_answer(
    name: Task,
    response: Response,
    source: Annotated[str, Query(min_length=1, max_length=500, examples=["a b c d"])],
) -> ZooExampleReply:
    """The text as the models read it, its right answer, and which tokens determine each part."""
    response.headers["Cache-Control"] = "no-cache"
    return answered(name, source)
