"""Having a head cosigned: the witness is shown how the log goes on from the head that it saw (C2SP tlog-witness)."""

from dataclasses import dataclass, replace
from typing import Final

from services.common.ports.transparency_log import TransparencyLog
from services.common.ports.witness import Witness, WitnessAnswer, WitnessStatus
from services.common.signed_note import NoteSignature, signature_lines
from services.common.submission import Submission
from services.dag.publishing.metrics import Result
from services.dag.transparency.cosigned import CosignedHeads
from services.dag.transparency.log import SignedHead, TransparencyApp
from services.dag.transparency.ranges import growth_proof

_ATTEMPTS: Final = 3


@dataclass(frozen=True, slots=True)
class HeadSource:
    """Where heads and proofs come from, and where cosigned heads are kept."""

    app: TransparencyApp
    log: TransparencyLog
    cosigned: CosignedHeads


@dataclass(frozen=True, slots=True)
class Cosigned:
    """What a witness made of a head; ``line`` is set exactly when it cosigned it."""

    result: Result
    line: NoteSignature | None = None
    problem: str = ""


class Cosigning:
    """One witness, and what it is known to know.

    Args:
        witness: asked.
        log: gives proofs.
    """

    def __init__(self, witness: Witness, log: TransparencyLog) -> None:
        self._witness = witness
        self._log = log
        self._sizes: dict[str, int] = {}

    @property
    def name(self) -> str:
        """The witness's name."""
        return self._witness.key.name

    async def cosign(self, tenant_id: str, head: SignedHead) -> Cosigned:
        """Ask for a cosignature; a witness that knows another size than was thought is asked again from there."""
        size = head.checkpoint.size
        answer = WitnessAnswer(WitnessStatus.UNREACHABLE)
        for _ in range(_ATTEMPTS):
            known = self._sizes.get(tenant_id, 0)
            if known > size:
                return await self._ahead(tenant_id, known)
            path = await growth_proof(self._log, tenant_id, known, size)
            answer = await self._witness.add_checkpoint(bytes(Submission(known, path, str(head.note))))
            if answer.status is not WitnessStatus.OTHER_SIZE:
                break
            self._sizes[tenant_id] = answer.size
        return self._judged(tenant_id, head, answer)

    async def _ahead(self, tenant_id: str, known: int) -> Cosigned:
        """Tell a log that was cut from one whose newer head another process had cosigned meanwhile."""
        del self._sizes[tenant_id]
        held = await self._log.tree_size(tenant_id)
        if known > held:
            return self._conflict(f"it has seen a head of size {known}, and the log has {held} records")
        return Cosigned(Result.FAILED, problem=f"{self.name}: a newer head, of size {known}, was cosigned meanwhile")

    def _judged(self, tenant_id: str, head: SignedHead, answer: WitnessAnswer) -> Cosigned:
        if answer.status is WitnessStatus.CONFLICT:
            return self._conflict(answer.problem)
        if answer.status is not WitnessStatus.COSIGNED:
            return Cosigned(Result.FAILED, problem=f"{self.name}: {answer.status.value}: {answer.problem}")
        line = self._good_line(head, answer)
        if line is None:
            return Cosigned(Result.FAILED, problem=f"{self.name}: its answer holds no good cosignature of its key")
        self._sizes[tenant_id] = head.checkpoint.size
        return Cosigned(Result.DELIVERED, line)

    def _good_line(self, head: SignedHead, answer: WitnessAnswer) -> NoteSignature | None:
        try:
            lines = signature_lines(answer.lines)
        except ValueError:
            return None
        key = self._witness.key
        return next((line for line in lines if key.signed_at(head.note.text, line) is not None), None)

    def _conflict(self, what: str) -> Cosigned:
        return Cosigned(Result.CONFLICT, problem=f"{self.name}: {what}: the log was cut, rewritten or forked")


def cosigned_head(head: SignedHead, lines: list[NoteSignature]) -> SignedHead:
    """Return the head with the lines of its witnesses."""
    return replace(head, note=head.note.with_signatures(lines))
