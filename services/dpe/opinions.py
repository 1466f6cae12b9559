"""Asks for a second opinion within a budget, remembers votes, and never fails an analysis (ADR 0119).

What is counted before a call is the estimate of its prompt and the bound of its answer; after it, what the endpoint
says that it took. One failed attempt is repeated where a retry can help and the budget has it. Whatever goes wrong is a
reason in the record, and the first opinion stands.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Protocol

from services.common.computing import compute_unless_small
from services.common.context import current_call
from services.common.errors import CrpError, DeadlineError, UnavailableError
from services.common.ids import IdSource
from services.common.ports.second_opinion import AskedClaim, GivenVote, OpinionReply, OpinionRequest
from services.dpe.answer_cache import AnswerCache, cache_keys
from services.dpe.domain.analysis import Analysis
from services.dpe.domain.models import ModelRole
from services.dpe.domain.opinion_record import Gap, Limits, OpinionCall, OpinionRecord, Scope
from services.dpe.domain.opinions import gaps, key_texts, next_call, request_for, to_ask
from services.dpe.domain.votes import Ballot, voted
from services.dpe.ports import OpinionReplay, OpinionTerms

NONCE_CHARS: Final = 32
LEAST_CALL_S: Final = 0.05
"""A call is not begun with less time than this."""
ATTEMPTS: Final = 2
_BALLOT_BYTES: Final = 400
_SPAN_BYTES: Final = 160
_NO_TENANT: Final = ""


class Opinions(Protocol):
    """Gives an analysis its second opinion, after stage 3."""

    async def settle(self, analysis: Analysis, limit_s: float) -> Analysis:
        """Return the analysis with the votes taken; itself where none are to be asked for.

        Args:
            analysis: stage 3 has ended.
            limit_s: seconds that it may take; may be infinite.
        """
        ...


@dataclass(slots=True)
class OpinionCounts:
    """What is counted for metrics: claims by what became of them, calls by reason, tokens."""

    claims: Counter[str] = field(default_factory=Counter)
    calls: Counter[str] = field(default_factory=Counter)
    tokens: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class _Account:
    """What one analysis has spent and has found."""

    limits: Limits
    deadline: float
    tokens_left: int
    calls: list[OpinionCall] = field(default_factory=list)
    ballots: dict[str, Ballot] = field(default_factory=dict)
    left: dict[str, Gap] = field(default_factory=dict)

    def leave(self, claims: Sequence[AskedClaim], gap: Gap) -> None:
        """Note why claims have no vote."""
        self.left.update(dict.fromkeys((claim.claim_id for claim in claims), gap))

    def remaining_s(self) -> float:
        """Return the seconds that are left."""
        return self.deadline - asyncio.get_running_loop().time()


class AskedOpinions:
    """``Opinions`` from an endpoint; belongs to one event loop.

    Args:
        terms: who is asked, and what that may cost.
        cache: remembers votes beside what the models said.
        ids: for marks that nobody can guess.
    """

    def __init__(self, terms: OpinionTerms, cache: AnswerCache, ids: IdSource) -> None:
        self._endpoint = terms.endpoint
        self._limits = terms.limits
        self._ttl_s = terms.ttl_s
        self._cache = cache
        self._ids = ids
        self.counts = OpinionCounts()

    async def settle(self, analysis: Analysis, limit_s: float) -> Analysis:
        """Ask, within what deployment, request and deadline allow."""
        limits = self._limits.narrowed(analysis.input.opinion_limits)
        if limits.scope is Scope.OFF:
            return analysis
        now = asyncio.get_running_loop().time()
        account = _Account(limits, now + min(limits.max_seconds, limit_s), limits.max_tokens)
        tenant, size = _tenant(), len(analysis.input.answer)
        claims = await compute_unless_small(size, to_ask, analysis, limits.scope)
        keys = await compute_unless_small(size, self._keys, tenant, analysis, claims)
        unknown = self._remembered(claims, keys, account, now)
        await self._ask_all(analysis, unknown, account)
        self._remember(unknown, keys, account)
        endpoint = self._endpoint
        record = OpinionRecord(
            endpoint.kind,
            endpoint.model,
            endpoint.prompt_version,
            limits.scope,
            left=gaps({one.claim_id: account.left[one.claim_id] for one in claims if one.claim_id in account.left}),
            calls=tuple(account.calls),
        )
        done = await compute_unless_small(size, voted, analysis, record, account.ballots)
        self._count(done.outputs.second_opinion or record)
        return done

    def _keys(self, tenant: str, analysis: Analysis, claims: Sequence[AskedClaim]) -> dict[str, bytes]:
        endpoint = self._endpoint
        fingerprint = f"{endpoint.kind} {endpoint.model} {endpoint.prompt_version}"
        keys = cache_keys(tenant, fingerprint, (key_texts(analysis, claim) for claim in claims))
        return {claim.claim_id: key for claim, key in zip(claims, keys, strict=True)}

    def _remembered(
        self, claims: Sequence[AskedClaim], keys: dict[str, bytes], account: _Account, now: float
    ) -> list[AskedClaim]:
        """Take the votes that are known, and return the claims whose vote is not."""
        if not self._ttl_s or not claims:
            return list(claims)
        oldest = now - self._ttl_s
        known = self._cache.find(
            _tenant(),
            ModelRole.SECOND_OPINION,
            [keys[claim.claim_id] for claim in claims],
            lambda entry: bool(entry[1] >= oldest),
        )
        for place, (ballot, _, start) in known.items():
            moved_by = claims[place].start - start
            account.ballots[claims[place].claim_id] = _elsewhere(ballot, moved_by)
        return [claim for claim in claims if claim.claim_id not in account.ballots]

    def _remember(self, claims: Sequence[AskedClaim], keys: dict[str, bytes], account: _Account) -> None:
        if not self._ttl_s:
            return
        now = asyncio.get_running_loop().time()
        given = [(claim, account.ballots[claim.claim_id]) for claim in claims if claim.claim_id in account.ballots]
        self._cache.keep(
            _tenant(),
            {
                keys[claim.claim_id]: (
                    (ballot, now, claim.start),
                    _BALLOT_BYTES + _SPAN_BYTES * len(ballot.given.spans),
                )
                for claim, ballot in given
            },
        )

    async def _ask_all(self, analysis: Analysis, claims: Sequence[AskedClaim], account: _Account) -> None:
        """Ask in as many calls as the tokens of one call make necessary, until something is used up."""
        waiting: Sequence[AskedClaim] = claims
        while waiting:
            gap = self._used_up(account)
            if gap is not None:
                account.leave(waiting, gap)
                return
            bound = min(account.limits.max_call_tokens, account.tokens_left)
            fits = self._fits(analysis, bound)
            now, waiting = await compute_unless_small(len(analysis.input.answer), next_call, waiting, fits)
            if not now:  # the first claim alone takes too much: the others may not
                account.leave(waiting[:1], Gap.OUT_OF_TOKENS)
                waiting = waiting[1:]
            elif not await self._ask(analysis, now, account):
                account.leave(waiting, account.left[now[0].claim_id])
                return

    def _fits(self, analysis: Analysis, bound: int) -> Callable[[Sequence[AskedClaim]], bool]:
        def fits(claims: Sequence[AskedClaim]) -> bool:
            return sum(self._endpoint.tokens(request_for(analysis, claims, "0" * NONCE_CHARS))) <= bound

        return fits

    def _used_up(self, account: _Account) -> Gap | None:
        if len(account.calls) >= account.limits.max_calls:
            return Gap.OUT_OF_CALLS
        if account.tokens_left <= 0:
            return Gap.OUT_OF_TOKENS
        return Gap.OUT_OF_TIME if account.remaining_s() < LEAST_CALL_S else None

    async def _ask(self, analysis: Analysis, claims: Sequence[AskedClaim], account: _Account) -> bool:
        """Make one call, repeated once where that can help; say whether the endpoint is worth another one."""
        for attempt in range(1, ATTEMPTS + 1):
            request = request_for(analysis, claims, self._ids.alphanumeric(NONCE_CHARS))
            try:
                reply = await self._attempt(request, account)
            except TimeoutError:
                account.calls.append(OpinionCall(len(claims), "timeout"))
                account.leave(claims, Gap.OUT_OF_TIME)
                return False
            except UnavailableError as error:
                account.calls.append(OpinionCall(len(claims), str(error.metadata.get("cause", "unavailable"))))
                account.leave(claims, Gap.ENDPOINT_FAILED)
                if attempt == ATTEMPTS or not await self._paused(error, account):
                    return False
                continue
            self._take(reply, request, claims, account)
            return True
        return False

    async def _attempt(self, request: OpinionRequest, account: _Account) -> OpinionReply:
        left = account.remaining_s()
        try:
            async with asyncio.timeout(left):
                return await self._endpoint.ask(replace(request, timeout_s=left))
        except DeadlineError:
            raise TimeoutError from None
        except UnavailableError as error:
            if error.metadata.get("cause") == "timeout":
                raise TimeoutError from None
            raise
        except CrpError as error:  # nothing that an endpoint causes ends an analysis
            raise UnavailableError(error.reason, error.message, cause="refused") from None

    async def _paused(self, error: UnavailableError, account: _Account) -> bool:
        """Wait as long as the endpoint asks; say whether another attempt is within the budget."""
        pause = error.retry_after_s
        if pause is None or pause + LEAST_CALL_S >= account.remaining_s() or self._used_up(account) is not None:
            return False
        await asyncio.sleep(pause)
        return True

    def _take(
        self, reply: OpinionReply, request: OpinionRequest, claims: Sequence[AskedClaim], account: _Account
    ) -> None:
        prompt, answer = self._endpoint.tokens(request)
        spent_prompt = prompt if reply.prompt_tokens is None else reply.prompt_tokens
        spent_answer = answer if reply.completion_tokens is None else reply.completion_tokens
        account.tokens_left -= spent_prompt + spent_answer
        account.calls.append(
            OpinionCall(len(claims), reply.refusal, reply.model, reply.answer_sha256, spent_prompt, spent_answer)
        )
        for claim in claims:
            account.left.pop(claim.claim_id, None)
            if reply.refusal:
                account.left[claim.claim_id] = Gap.ANSWER_REFUSED
            elif claim.claim_id in reply.votes:
                account.ballots[claim.claim_id] = Ballot(reply.votes[claim.claim_id], reply.model)
            else:
                account.left[claim.claim_id] = Gap.NO_VOTE

    def _count(self, record: OpinionRecord) -> None:
        counts = self.counts
        for vote in record.votes:
            counts.claims["cached" if vote.cached else "asked"] += 1
            counts.claims["moved"] += vote.moved
        for _, ids in record.left:
            counts.claims["left"] += len(ids)
        for call in record.calls:
            counts.calls[_outcome(call.reason)] += 1
            counts.tokens["prompt"] += call.prompt_tokens
            counts.tokens["completion"] += call.completion_tokens


class NoOpinions:
    """``Opinions`` that are never asked for: the first one is all there is."""

    async def settle(self, analysis: Analysis, limit_s: float) -> Analysis:  # noqa: ARG002 - the port's shape
        """Return the analysis as it is."""
        return analysis


class RecordedOpinions:
    """``Opinions`` out of reports, for replaying these: their votes are taken again and nobody is asked."""

    def __init__(self, replay: OpinionReplay) -> None:
        self._replay = replay

    async def settle(self, analysis: Analysis, limit_s: float) -> Analysis:  # noqa: ARG002 - the port's shape
        """Return the analysis with the recorded votes."""
        record = self._replay.record
        if record is None:
            return analysis
        ballots = {
            vote.claim_id: Ballot(GivenVote(vote.vote, vote.spans), vote.model, vote.cached) for vote in record.votes
        }
        return voted(analysis, replace(record, votes=()), ballots)


def opinions_for(source: OpinionTerms | OpinionReplay | None, cache: AnswerCache, ids: IdSource) -> Opinions:
    """Return what gives second opinions; without a source nobody is asked."""
    match source:
        case OpinionTerms():
            return AskedOpinions(source, cache, ids)
        case OpinionReplay():
            return RecordedOpinions(source)
        case _:
            return NoOpinions()


def counts_of(opinions: Opinions) -> OpinionCounts | None:
    """Return what is counted of second opinions; ``None`` where nobody is asked."""
    return opinions.counts if isinstance(opinions, AskedOpinions) else None


def _outcome(reason: str) -> str:
    """Return the label of a call: a closed set, so HTTP statuses by their first digit."""
    if not reason:
        return "answered"
    return f"http_{reason[5:6]}xx" if reason.startswith("http_") else reason


def _elsewhere(ballot: Ballot, moved_by: int) -> Ballot:
    """Return a remembered vote with its stretches where the claim stands in this answer."""
    spans = tuple(replace(span, start=span.start + moved_by, end=span.end + moved_by) for span in ballot.given.spans)
    return replace(ballot, given=replace(ballot.given, spans=spans), cached=True)


def _tenant() -> str:
    """Return who asks; outside of a call (tools, tests) everything belongs to the nameless tenant."""
    try:
        return current_call().caller.tenant_id
    except LookupError:
        return _NO_TENANT
