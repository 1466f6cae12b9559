"""The LLM judge of coherence: "does the response follow from the context?" (Director-AI page, D2; ADR 0119, ADR 0122).

The endpoint is that of the second opinion, with its prompt, its marks and its reading of answers: prompt, facts and
answer go out as data, one vote on the whole answer comes back, and nothing else of it is used. Whatever goes wrong is
UNCLEAR, and nothing is blended.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from services.common.computing import compute_unless_small
from services.common.context import current_call
from services.common.errors import CrpError
from services.common.ids import IdSource
from services.common.ports.second_opinion import AskedClaim, OpinionRequest, Vote
from services.dpe.domain.guard.coherence import JudgeOpinion
from services.dpe.opinions import LEAST_CALL_S, NONCE_CHARS
from services.dpe.ports import OpinionTerms

JUDGE_ROLE: Final = "second_opinion"
_ANSWER_ID: Final = "answer"
_TIME_SHARE: Final = 0.8
"""Of the time that the call has left, what the judge may take: the answer has still to be written."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the judge thought, and who it was; ``model`` is empty where nobody answered."""

    opinion: JudgeOpinion
    model: str = ""


class Judge:
    """Asks one endpoint about whole answers; one attempt for each. Belongs to one event loop.

    Args:
        terms: who is asked, and what that may cost.
        ids: for marks that nobody can guess.
    """

    def __init__(self, terms: OpinionTerms, ids: IdSource) -> None:
        self._endpoint = terms.endpoint
        self._limits = terms.limits
        self._ids = ids
        self.counts: Counter[JudgeOpinion] = Counter()

    @property
    def fingerprint(self) -> str:
        """Whom a score depends on, for a key."""
        return f"{self._endpoint.kind} {self._endpoint.model} {self._endpoint.prompt_version}"

    async def ask(self, question: str, answer: str, facts: Sequence[str]) -> Verdict:
        """Return what the judge thinks of an answer beside facts, the nearest first; at least one."""
        found = await self._asked(question, answer, facts)
        self.counts[found.opinion] += 1
        return found

    async def _asked(self, question: str, answer: str, facts: Sequence[str]) -> Verdict:
        size = len(question) + len(answer) + sum(map(len, facts))
        request = await compute_unless_small(size, self._request, question, answer, tuple(facts))
        left = self._left_s()
        if request is None or left < LEAST_CALL_S:
            return Verdict(JudgeOpinion.UNCLEAR)
        request = OpinionRequest(request.question, answer, request.facts, request.claims, request.nonce, left)
        try:
            async with asyncio.timeout(left):
                reply = await self._endpoint.ask(request)
        except (CrpError, TimeoutError):  # nothing that an endpoint causes ends a score
            return Verdict(JudgeOpinion.UNCLEAR)
        vote = None if reply.refusal else reply.votes.get(_ANSWER_ID)
        if vote is None:
            return Verdict(JudgeOpinion.UNCLEAR, reply.model)
        agrees = vote.vote is Vote.SUPPORTED
        return Verdict(JudgeOpinion.AGREES if agrees else JudgeOpinion.DISAGREES, reply.model)

    def _request(self, question: str, answer: str, facts: tuple[str, ...]) -> OpinionRequest | None:
        """Return the question with as many facts as the endpoint takes; ``None`` when it does not take one."""
        nonce = self._ids.alphanumeric(NONCE_CHARS)
        most = min(self._limits.max_call_tokens, self._limits.max_tokens)
        count = len(facts)
        while count:
            claim = AskedClaim(_ANSWER_ID, answer, 0, len(answer), tuple(range(count)))
            request = OpinionRequest(question, answer, facts[:count], (claim,), nonce)
            if sum(self._endpoint.tokens(request)) <= most:
                return request
            count //= 2
        return None

    def _left_s(self) -> float:
        """Return the seconds that the endpoint may take."""
        try:
            deadline = current_call().deadline
        except LookupError:
            deadline = None
        most = self._limits.max_seconds
        if deadline is None:
            return most
        return min(most, (deadline - asyncio.get_running_loop().time()) * _TIME_SHARE)
