"""One stream under oversight as the process knows it, whatever connection it is on (ADR 0123).

Events are numbered from 1. What was concluded is logged before it is sent, so that a client that lost its connection
finds the same events under the same numbers. Tokens that were taken in and not concluded stay in line.
"""

from collections import deque
from collections.abc import Sequence

from services.common.errors import ErrorReason, FieldViolation, InvalidRequestError, NotFoundError
from services.common.streaming.halting import Summary
from services.common.streaming.intake import Taken
from services.common.streaming.oversight import Oversight, Step
from services.dpe.domain.guard.coherence import Exhibit
from services.dpe.domain.guard.sentence_scores import SentenceScore
from services.dpe.domain.guard.stream_messages import Ended, Event, Halted, Start, Token
from services.dpe.guard.sentence_scoring import SentenceScorer


class Overseen:
    """One stream.

    Args:
        tenant: whose it is.
        start: how it began.
        scorer: of its sentences.
        models: role and fingerprint of those that take part.
        replay_events: events that are kept for a client that comes again.
    """

    def __init__(
        self,
        tenant: str,
        start: Start,
        scorer: SentenceScorer,
        models: tuple[tuple[str, str], ...],
        replay_events: int,
    ) -> None:
        self.tenant = tenant
        self.oversight_id = start.oversight_id
        self.scorer = scorer
        self._strict = start.strict
        self.oversight = Oversight(start.rules, start.score_every_tokens)
        self.ahead: deque[Taken] = deque()
        """Tokens that were taken in and not concluded, in order."""
        self.end_taken = False
        """The last of them is the end of the stream."""
        self.ended = False
        self.connection = 0
        """Number of the connection that the stream is on; only that one may go on with it."""
        self._models = models
        self._number = 0
        self._log: deque[Event] = deque(maxlen=replay_events)
        self._texts: deque[int] = deque(maxlen=replay_events)
        """Digests of the texts of the tokens that came last."""
        self._exhibits: tuple[Exhibit, ...] = ()
        self._sentences = 0
        self._reason = ""

    @property
    def is_resumable(self) -> bool:
        """Whether a client can come again for it."""
        return bool(self.oversight_id)

    @property
    def sentences(self) -> int:
        """Sentences that were scored."""
        return self._sentences

    def take(self, token: Token, *, again: bool) -> Taken | None:
        """Take in a token; ``None`` = it was taken in before.

        Args:
            token: the token.
            again: the client came again, and may repeat tokens.

        Raises:
            InvalidRequestError: it is not the one that is due, or is repeated with another text.
        """
        due = self.oversight.tokens
        if token.index != due:
            if again and token.index < due:
                self._require_same(token, due)
                return None
            text = f"must be {due}: tokens are numbered from 0 without gaps, in order"
            raise InvalidRequestError.of(FieldViolation("token.index", text))
        if self.oversight_id:
            self._texts.append(hash(token.text))
        taken = self.oversight.take(token.text)
        self.ahead.append(taken)
        return taken

    def take_end(self) -> Taken:
        """Take in that no token follows."""
        taken = self.oversight.end()
        self.end_taken = True
        self.ahead.append(taken)
        return taken

    def conclude(self, scores: Sequence[SentenceScore]) -> tuple[Event, ...]:
        """Give the scores of the first token in line; return what the client is told."""
        taken = self.ahead.popleft()
        if not scores and not (self.end_taken and not self.ahead):
            step = self.oversight.conclude(taken)
            return (self._event(step),) if step.halt is None else self._halted(step)
        self._hear(scores)
        coherences = [score.counted(strict=self._strict) for score in scores]
        if not (self.end_taken and not self.ahead):
            step = self.oversight.conclude(taken, coherences)
            return (self._event(step),) if step.halt is None else self._halted(step)
        last, summary = self.oversight.finish(taken, coherences)
        told: list[Step | Halted | Ended] = [] if last is None else [last]
        if summary.halt is not None:
            told.append(Halted(summary.halt, self._exhibits))
        return self._ended(told, summary)

    def time_out(self) -> tuple[Event, ...]:
        """Halt because no score came in time; return what the client is told."""
        halt = self.oversight.time_out()
        self._reason = self._reason or halt.reason.value
        return self._ended([Halted(halt, ())], self.oversight.summary())

    def after(self, number: int) -> tuple[Event, ...]:
        """Return the events behind a number.

        Raises:
            NotFoundError: EVENT_NOT_FOUND: there was none of that number, or one behind it is kept no more.
        """
        found = tuple(event for event in self._log if event.number > number)
        if number > self._number or self._number - number > len(found):
            raise NotFoundError(
                ErrorReason.EVENT_NOT_FOUND,
                "the events behind resume_after are not kept; begin a new oversight",
                resume_after=str(number),
                last_event=str(self._number),
                kept=str(len(self._log)),
            )
        return found

    def _require_same(self, token: Token, due: int) -> None:
        back = due - token.index
        if back <= len(self._texts) and self._texts[-back] != hash(token.text):
            text = "must be what was sent as this token before the connection broke"
            raise InvalidRequestError.of(FieldViolation("token.text", text))

    def _hear(self, scores: Sequence[SentenceScore]) -> None:
        for score in scores:
            if score.coherence is not None:
                self._sentences += 1
            if score.coherence is not None or score.reason:
                self._exhibits = score.exhibits
            self._reason = self._reason or score.reason
        worst = min((one for one in scores if one.coherence is not None), key=_coherence, default=None)
        if worst is not None:
            self._exhibits = worst.exhibits

    def _halted(self, step: Step) -> tuple[Event, ...]:
        assert step.halt is not None
        return self._ended([step, Halted(step.halt, self._exhibits)], self.oversight.summary())

    def _ended(self, told: "list[Step | Halted | Ended]", summary: Summary) -> tuple[Event, ...]:
        self.ended = True
        self.ahead.clear()
        ended = Ended(summary, self.oversight.released, self._sentences, self._reason, self._models)
        return tuple(self._event(one) for one in (*told, ended))

    def _event(self, told: "Step | Halted | Ended") -> Event:
        self._number += 1
        event = Event(self._number, told)
        if self.oversight_id:
            self._log.append(event)
        return event


def _coherence(score: SentenceScore) -> float:
    return 1.0 if score.coherence is None else score.coherence
