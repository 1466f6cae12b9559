from dataclasses import replace

import pytest
import structlog.testing

from services.common.adapters.memory import MemoryCredentialStore
from services.common.errors import ErrorReason, PreconditionError
from services.common.ports.receipts import Receipt
from services.gateway.clients.drafts import RPC, StoredDrafts
from services.gateway.domain.command import DispatchDraft, Notice, StepIds
from services.gateway.domain.directives import Finding
from services.gateway.domain.outcome import Enforcement, Verdict, Violation
from services.gateway.domain.vocabulary import OversightMode, QualityTier, Strategy
from services.gateway.domain.written import WrittenText
from tests.fakes.dag_world import NOW, TurnedClock
from tests.fakes.gateway_values import ENVELOPE, PLACE, REPORT

DRAFT = DispatchDraft(
    place=PLACE,
    envelope=ENVELOPE,
    report=REPORT,
    report_message=b"\xff\x00\xfe",
    written=WrittenText("text", "stop", "model", 3, None, 4),
    tier=QualityTier.A,
    strategy=Strategy.PUSH,
    verdict=Verdict("halt-on HIGH", (Violation(Finding("halt-on HIGH", "HALT_ON_HIGH", "x"), Enforcement.HALTED),)),
    policy_applied="halt-on HIGH",
    oversight=OversightMode.AUTO,
    notices=(Notice("CODE", "message"),),
)


async def test_a_draft_comes_back_as_it_was():
    drafts = StoredDrafts(MemoryCredentialStore(), TurnedClock())
    assert await drafts.find("t", "id", "body") is None
    assert await drafts.keep("t", "id", "body", DRAFT) is DRAFT
    assert await drafts.find("t", "id", "body") == DRAFT
    assert await drafts.find("another", "id", "body") is None


async def test_the_first_draft_wins():
    drafts = StoredDrafts(MemoryCredentialStore(), TurnedClock())
    await drafts.keep("t", "id", "body", DRAFT)
    assert await drafts.keep("t", "id", "body", replace(DRAFT, policy_applied="other")) == DRAFT


async def test_another_body_under_the_same_id_is_refused():
    drafts = StoredDrafts(MemoryCredentialStore(), TurnedClock())
    await drafts.keep("t", "id", "body", DRAFT)
    with pytest.raises(PreconditionError) as caught:
        await drafts.find("t", "id", "another")
    assert caught.value.reason is ErrorReason.REQUEST_ID_REUSED


async def test_a_draft_in_another_form_counts_as_none():
    store = MemoryCredentialStore()
    await store.put_receipt(Receipt("t", RPC, "id", "body", b'{"old": 1}', NOW))
    with structlog.testing.capture_logs() as logs:
        assert await StoredDrafts(store, TurnedClock()).find("t", "id", "body") is None
    assert [line["log_level"] for line in logs] == ["warning"]


def test_step_ids_are_uuids_of_version_4_and_all_different():
    ids = [StepIds.of(request, attempt) for request in ("a", "b") for attempt in (0, 1)]
    flat = [getattr(each, name) for each in ids for name in ("open", "commit", "fail", "draft", "event")]
    assert len(set(flat)) == 20
    assert all(one[14] == "4" and one[19] in "89ab" for one in flat)
    assert StepIds.of("a", 0) == ids[0]
