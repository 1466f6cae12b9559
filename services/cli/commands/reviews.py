"""``groundtrail reviews list | show | approve | reject``: answers that wait for a person (ADR 0148)."""

import uuid
from typing import Final

from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.gateway.v1 import review_pb2
from crp.gateway.v1 import review_service_pb2 as service

from services.allinone.parts import Part
from services.cli import render
from services.cli.answer_screen import answer_lines
from services.cli.commands.ask import show_outcome
from services.cli.connection import CALL_TIMEOUT_S, connect
from services.cli.console import Output
from services.cli.exits import Exit
from services.cli.told import told_answer
from services.cli.words import enum_text
from services.common.settings import Settings

_PAGE: Final = 500
_DECISIONS: Final = ("approve", "reject")
_PARTS: Final = (Part.SESSIONS, Part.REVIEWS)


async def list_reviews(
    settings: Settings, output: Output, status: str = "", session_id: str = "", limit: int = 100
) -> Exit:
    """List up to ``limit`` reviews."""
    wanted = service.ListReviewsRequest(session_id=session_id)
    if status:
        wanted.status = review_pb2.ReviewStatus.Value(f"REVIEW_STATUS_{status.upper()}")  # type: ignore[assignment]  # an enum's number
    found: list[review_pb2.Review] = []
    async with connect(settings, *_PARTS) as suite:
        while True:
            wanted.page_size = min(_PAGE, limit - len(found))
            page: service.ListReviewsResponse = await suite.call(suite.reviews.ListReviews, wanted)
            found.extend(page.reviews)
            wanted.page_token = page.next_page_token
            if not page.next_page_token or len(found) >= limit:
                break
    rows: list[tuple[str, ...]] = [
        (
            f"{each.review_id}\nby {each.author}",
            enum_text(review_pb2.ReviewStatus, each.status)
            + (f"\n{enum_text(taxonomy.RiskLevel, each.risk_level)}" if each.risk_level else ""),
            f"{each.create_time.ToDatetime():%m-%d %H:%M} UTC\n{each.expire_time.ToDatetime():%m-%d %H:%M} UTC",
        )
        for each in found
    ]
    columns = ("review, asked by", "state, risk", "held, expires")
    output.table(f"Reviews ({len(rows)})", columns, rows, whole=columns[0])
    if wanted.page_token:
        output.say(render.more_text(limit), style="yellow")
    output.result({"reviews": [render.response_json(each) for each in found], "more": bool(wanted.page_token)})
    return Exit.OK


async def show(settings: Settings, output: Output, review_id: str, wait_s: float = 0.0) -> Exit:
    """Show one review: what to decide by to a reviewer, its outcome to whoever asked; exit code 3 if it is withheld."""
    request = service.GetReviewRequest(review_id=review_id, wait_ms=round(1_000 * wait_s))
    async with connect(settings, *_PARTS) as suite:
        found: service.GetReviewResponse = await suite.call(
            suite.reviews.GetReview, request, timeout_s=CALL_TIMEOUT_S + wait_s
        )
    _tell(found.review, output)
    if found.answer_text:
        _show_held(found, output)
    code = _show_came_to(found, output) if found.HasField("response") else Exit.OK
    output.result(render.response_json(found))
    return code


def _show_held(found: service.GetReviewResponse, output: Output) -> None:
    """Show a reviewer what there is to decide by, and with what to decide."""
    review = found.review
    output.say(f"asked: {found.query}" if found.query else "The question was not kept: no-store, or personal data.")
    told = told_answer(found.report, found.answer_text)
    decided = review.status != review_pb2.REVIEW_STATUS_PENDING
    tail = [] if decided else [f'groundtrail reviews {word} {review.review_id} --comment "…"' for word in _DECISIONS]
    tail = [*tail, f"held for {review.reason}; expires {review.expire_time.ToDatetime():%Y-%m-%d %H:%M} UTC"]
    output.show_lines(answer_lines(told, (), tail, output, whole=True))


def _show_came_to(found: service.GetReviewResponse, output: Output) -> Exit:
    """Show whoever asked what came of it; of what still waits, how to wait for it and not this command again."""
    if not found.response.HasField("held_for_review"):
        return show_outcome(found.response, output)
    output.say("It is not delivered: nobody has decided yet.", style="yellow")
    output.drawn([(f"wait for it:  groundtrail reviews show {found.review.review_id} --wait 600", "yellow")])
    return Exit.VERDICT


async def decide(
    settings: Settings, output: Output, review_id: str, comment: str, version: int | None, *, approved: bool
) -> Exit:
    """Release or reject a held answer."""
    decision = review_pb2.REVIEW_STATUS_APPROVED if approved else review_pb2.REVIEW_STATUS_REJECTED
    async with connect(settings, *_PARTS) as suite:
        if version is None:
            seen: service.GetReviewResponse = await suite.call(
                suite.reviews.GetReview, service.GetReviewRequest(review_id=review_id)
            )
            version = seen.review.version
        request = service.DecideReviewRequest(
            request_id=str(uuid.uuid4()),
            review_id=review_id,
            decision=decision,
            comment=comment,
            expected_version=version,
        )
        decided: service.DecideReviewResponse = await suite.call(suite.reviews.DecideReview, request)
    _tell(decided.review, output)
    output.result(render.response_json(decided))
    return Exit.OK


def _tell(review: review_pb2.Review, output: Output) -> None:
    state = enum_text(review_pb2.ReviewStatus, review.status)
    by = f" by {review.decided_by}" if review.decided_by else ""
    output.say(f"{review.review_id}: {state}{by}, asked by {review.author}, session {review.session_id}", style="bold")
    for each in review.violations:
        output.say(f"{each.directive}: {each.description}", style="yellow")
    if review.comment:
        output.say(f"because: {review.comment}")
