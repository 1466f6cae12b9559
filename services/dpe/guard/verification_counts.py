"""How many texts and claims were verified, and with which verdicts; for metrics."""

from collections import Counter
from collections.abc import Iterable

from services.dpe.domain.guard.verification import VerifiedText
from services.dpe.domain.guard.verification_votes import ClaimVerdict


class VerificationCounts:
    """Counts by verdict and by status; nothing by tenant."""

    def __init__(self) -> None:
        self.claims: Counter[str] = Counter({str(verdict): 0 for verdict in ClaimVerdict})
        self.texts: Counter[str] = Counter()

    def add(self, texts: Iterable[VerifiedText]) -> None:
        """Count some texts and their claims."""
        for text in texts:
            self.texts[str(text.status)] += 1
            self.claims.update(str(claim.decision.verdict) for claim in text.claims)
