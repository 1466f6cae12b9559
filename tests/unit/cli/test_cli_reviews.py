"""``groundtrail reviews`` before a real queue: what is shown, what scripts get, which exit code."""

import json
from contextlib import asynccontextmanager

import pytest

from services.cli.commands import reviews
from services.cli.connection import Suite
from services.cli.console import Output
from services.cli.exits import Exit
from services.common.errors import PermissionDeniedError
from services.common.settings import Settings
from tests.fakes.gateway_world import ANSWER, QUESTION, GatewayWorld


class SubjectSuite(Suite):
    """A suite whose credential is a subject's name, which is what the world's authenticator takes."""

    def _credential(self):
        return (("authorization", self.api_key),)


@pytest.fixture
def as_subject(monkeypatch):
    def become(client, subject):
        @asynccontextmanager
        async def connect(_settings, *_parts):
            yield SubjectSuite("here", subject, client.channel)

        monkeypatch.setattr(reviews, "connect", connect)

    return become


def said(capsys):
    """What the command printed, without the log of the server beside it."""
    lines = capsys.readouterr().out.splitlines()
    return "\n".join(line for line in lines if not line.startswith("20"))


async def held(client):
    response = await client.dispatch(subject="writer", safety_policy="oversight human-review")
    return response.held_for_review.review_id


async def test_a_reviewer_lists_shows_and_approves_and_the_caller_has_the_answer(as_subject, capsys):
    async with GatewayWorld().serving() as client:
        review_id = await held(client)
        as_subject(client, "reviewer")
        assert await reviews.list_reviews(Settings(), Output(as_json=True), status="pending") is Exit.OK
        listed = json.loads(said(capsys))
        assert await reviews.show(Settings(), Output(as_json=False), review_id) is Exit.OK
        shown = said(capsys)
        decided = reviews.decide(Settings(), Output(as_json=False), review_id, "read it", None, approved=True)
        assert await decided is Exit.OK
        told = said(capsys)
        as_subject(client, "writer")
        assert await reviews.show(Settings(), Output(as_json=True), review_id, 1.0) is Exit.OK
        had = json.loads(said(capsys))
    assert [each["review_id"] for each in listed["reviews"]] == [review_id]
    assert ANSWER in shown
    assert f"asked: {QUESTION}" in shown
    assert "LOW" in shown
    for word in ("approve", "reject"):
        assert f"groundtrail reviews {word} {review_id}" in shown
    assert "APPROVED by reviewer" in told
    assert had["response"]["answer"]["text"] == ANSWER


async def test_a_waiting_and_a_rejected_answer_are_negative_verdicts_for_a_script(as_subject, capsys):
    async with GatewayWorld().serving() as client:
        review_id = await held(client)
        as_subject(client, "writer")
        assert await reviews.show(Settings(), Output(as_json=False), review_id) is Exit.VERDICT
        assert f"groundtrail reviews show {review_id} --wait 600" in said(capsys)
        with pytest.raises(PermissionDeniedError):
            await reviews.decide(Settings(), Output(as_json=True), review_id, "mine", 1, approved=True)
        as_subject(client, "reviewer")
        await reviews.decide(Settings(), Output(as_json=True), review_id, "wrong term", 1, approved=False)
        as_subject(client, "writer")
        capsys.readouterr()
        assert await reviews.show(Settings(), Output(as_json=False), review_id) is Exit.VERDICT
    shown = said(capsys)
    assert "REVIEW_REJECTED" in shown
    assert ANSWER not in shown
