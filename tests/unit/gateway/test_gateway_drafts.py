from dataclasses import replace

import pytest
import structlog.testing

from services.common.adapters.memory import MemoryCredentialStore
from services.common.errors import ErrorReason, PreconditionError
from services.common.ports.receipts import Receipt
from services.common.taxonomy import DispatchStrategy, QualityTier
from services.gateway.clients.drafts import MARK, RPC, StoredDrafts
from services.gateway.domain.command import DispatchDraft, Notice, StepIds
from services.gateway.domain.completion import Completion
from services.gateway.domain.directives import Finding
from services.gateway.domain.outcome import Enforcement, Verdict, Violation
from services.gateway.domain.vocabulary import OversightMode
from services.gateway.ports import DraftOwner, DraftSlot
from tests.fakes.dag_world import NOW, TurnedClock
from tests.fakes.gateway_values import ENVELOPE, PLACE, REPORT

DRAFT = DispatchDraft(
    place=PLACE,
    envelope=ENVELOPE,
    report=REPORT,
    report_message=b"\xff\x00\xfe",
    written=Completion("text", "stop", "model", 3, None, 4),
    tier=QualityTier.A,
    strategy=DispatchStrategy.PUSH,
    verdict=Verdict("halt-on HIGH", (Violation(Finding("halt-on HIGH", "HALT_ON_HIGH", "x"), Enforcement.HALTED),)),
    policy_applied="halt-on HIGH",
    oversight=OversightMode.AUTO,
    notices=(Notice("CODE", "message"),),
)


SLOT = DraftSlot("t", "id", "body")
OWNER = DraftOwner(PLACE.window_id, b"k" * 32)
UNKEYED = replace(OWNER, key=b"")


@pytest.mark.parametrize("owner", [OWNER, UNKEYED], ids=["sealed", "as it is"])
async def test_a_draft_comes_back_as_it_was(owner):
    drafts = StoredDrafts(MemoryCredentialStore(), TurnedClock())
    assert await drafts.find(SLOT, owner) is None
    assert not await drafts.holds(SLOT)
    assert await drafts.keep(SLOT, owner, DRAFT) is DRAFT
    assert await drafts.find(SLOT, owner) == DRAFT
    assert await drafts.holds(SLOT)
    assert await drafts.find(replace(SLOT, tenant_id="another"), owner) is None


@pytest.mark.parametrize("owner", [OWNER, UNKEYED], ids=["sealed", "as it is"])
async def test_the_first_draft_wins(owner):
    drafts = StoredDrafts(MemoryCredentialStore(), TurnedClock())
    await drafts.keep(SLOT, owner, DRAFT)
    assert await drafts.keep(SLOT, owner, replace(DRAFT, policy_applied="other")) == DRAFT


async def test_another_body_under_the_same_id_is_refused():
    drafts = StoredDrafts(MemoryCredentialStore(), TurnedClock())
    await drafts.keep(SLOT, OWNER, DRAFT)
    other = replace(SLOT, body_hash="another")
    for call in (drafts.find(other, OWNER), drafts.holds(other)):
        with pytest.raises(PreconditionError) as caught:
            await call
        assert caught.value.reason is ErrorReason.REQUEST_ID_REUSED


async def stored(store):
    return await store.get_receipt("t", RPC, "id")


async def test_what_is_kept_under_a_key_shows_nothing_of_the_draft():
    store = MemoryCredentialStore()
    await StoredDrafts(store, TurnedClock()).keep(SLOT, OWNER, DRAFT)
    kept = (await stored(store)).response
    assert kept.startswith(MARK)
    assert b"halt-on" not in kept
    assert PLACE.window_id.encode() not in kept


@pytest.mark.parametrize(
    "owner",
    [replace(OWNER, key=b"x" * 32), UNKEYED, replace(OWNER, window_id="crp_win_another")],
    ids=["another key", "no key", "another window"],
)
async def test_a_sealed_draft_opens_for_its_own_window_alone(owner):
    drafts = StoredDrafts(MemoryCredentialStore(), TurnedClock())
    await drafts.keep(SLOT, OWNER, DRAFT)
    for call in (drafts.find(SLOT, owner), drafts.keep(SLOT, owner, DRAFT)):
        with pytest.raises(PreconditionError) as caught:
            await call
        assert caught.value.reason is ErrorReason.SESSION_CLOSED
    assert await drafts.holds(SLOT)


async def test_a_draft_that_was_kept_without_a_key_is_not_anothers():
    drafts = StoredDrafts(MemoryCredentialStore(), TurnedClock())
    await drafts.keep(SLOT, UNKEYED, DRAFT)
    assert await drafts.find(SLOT, OWNER) == DRAFT
    with pytest.raises(PreconditionError) as caught:
        await drafts.find(SLOT, replace(OWNER, window_id="crp_win_another"))
    assert caught.value.reason is ErrorReason.SESSION_CLOSED


@pytest.mark.parametrize("cut", [len(MARK), len(MARK) + 5, -1])
async def test_a_sealed_draft_that_was_cut_or_moved_does_not_open(cut):
    store = MemoryCredentialStore()
    drafts = StoredDrafts(store, TurnedClock())
    await drafts.keep(SLOT, OWNER, DRAFT)
    receipt = await stored(store)
    await store.put_receipt(replace(receipt, request_id="cut", response=receipt.response[:cut]))
    await store.put_receipt(replace(receipt, request_id="moved"))
    for draft_id in ("cut", "moved"):
        with pytest.raises(PreconditionError):
            await drafts.find(replace(SLOT, draft_id=draft_id), OWNER)


async def test_a_draft_in_another_form_counts_as_none():
    store = MemoryCredentialStore()
    await store.put_receipt(Receipt("t", RPC, "id", "body", b'{"old": 1}', NOW))
    with structlog.testing.capture_logs() as logs:
        assert await StoredDrafts(store, TurnedClock()).find(SLOT, OWNER) is None
    assert [line["log_level"] for line in logs] == ["warning"]


def test_step_ids_are_uuids_of_version_4_and_all_different():
    ids = [StepIds.of(request, attempt) for request in ("a", "b") for attempt in (0, 1)]
    flat = [getattr(each, name) for each in ids for name in ("open", "commit", "fail", "draft", "event")]
    assert len(set(flat)) == 20
    assert all(one[14] == "4" and one[19] in "89ab" for one in flat)
    assert StepIds.of("a", 0) == ids[0]
