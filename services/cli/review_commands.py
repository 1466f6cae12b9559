"""``groundtrail reviews``: what it is called and takes; the commands are in ``commands/``."""

from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from services.cli.forms import MOST_LISTED, AsJson
from services.cli.later import Later, run

if TYPE_CHECKING:
    from services.cli.commands import reviews
else:
    reviews = Later("services.cli.commands.reviews")

review_app = typer.Typer(no_args_is_help=True, help="Answers that wait for a person (oversight human-review).")
ReviewId = Annotated[str, typer.Argument(metavar="REVIEW", help="The review's id.")]
Comment = Annotated[str, typer.Option(help="Why; kept sealed beside the answer, its digest in the audit trail.")]
Version = Annotated[
    int | None, typer.Option(min=1, help="Refuse unless this version stands; none = whatever stands now.")
]


class StatusFilter(StrEnum):
    """Where a review stands."""

    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"
    EXPIRED = "expired"


@review_app.command("list")
def list_reviews(
    status: Annotated[StatusFilter | None, typer.Option(help="Only those of this status.")] = None,
    session: Annotated[str, typer.Option(metavar="SESSION", help="Only those of this session.")] = "",
    limit: Annotated[int, typer.Option(min=1, max=MOST_LISTED, help="Most reviews.")] = 100,
    *,
    as_json: AsJson = False,
) -> None:
    """List the reviews, oldest first."""
    word = status.value if status else ""
    run(partial(reviews.list_reviews, status=word, session_id=session, limit=limit), as_json=as_json)


@review_app.command("show")
def show(
    review: ReviewId,
    wait: Annotated[float, typer.Option(min=0, max=600, help="Seconds to wait for a decision.")] = 0.0,
    *,
    as_json: AsJson = False,
) -> None:
    """Show question, answer and claims with why, to a reviewer; to whoever asked, what comes of it."""
    run(partial(reviews.show, review_id=review, wait_s=wait), as_json=as_json)


@review_app.command("approve")
def approve(review: ReviewId, comment: Comment, version: Version = None, *, as_json: AsJson = False) -> None:
    """Release a held answer to whoever asked for it."""
    wanted = partial(reviews.decide, review_id=review, comment=comment, version=version, approved=True)
    run(wanted, as_json=as_json)


@review_app.command("reject")
def reject(review: ReviewId, comment: Comment, version: Version = None, *, as_json: AsJson = False) -> None:
    """Withhold a held answer for good."""
    wanted = partial(reviews.decide, review_id=review, comment=comment, version=version, approved=False)
    run(wanted, as_json=as_json)
