"""The product's engine as a process opens it, for ``pipeline``: all models, the policy of the settings, no server."""

from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

from services.common.adapters.tokens.counter import open_token_counter
from services.common.adapters.tokens.table import EXTRACTIVE_MODEL
from services.common.clock import SystemClock
from services.common.composition import Adapters
from services.common.errors import StartupError
from services.common.ids import RandomIds
from services.common.ports.grounding import GroundingModel
from services.common.ports.tokens import TokenCounter
from services.common.settings import Settings
from services.dpe.app import Limits, ProvenanceApp, Workplace
from services.dpe.compose import open_models, policy_of
from services.dpe.domain.analysis import AnalysisInput, Outputs
from services.dpe.domain.facts import EnvelopeFact
from services.dpe.gazetteer import load_gazetteer
from services.envelope.domain.chunking import chunk
from tools.evaluation.labelled import LabelledClaim
from tools.evaluation.pipeline import Findings
from tools.fit_calibration import document

MAX_FACTS: Final = 2_000


@dataclass(frozen=True, slots=True)
class EmbeddedEngine:
    """``Engine`` in this process."""

    app: ProvenanceApp
    grounding: GroundingModel
    counter: TokenCounter
    fingerprint: str

    async def check(self, claim: LabelledClaim) -> Findings:
        """Cut the context into facts as ingestion does, and analyse the text as an answer to the question."""
        drafts = chunk(document(claim.passages), lambda text: self.counter.count([text], EXTRACTIVE_MODEL)[0])
        facts = tuple(EnvelopeFact(f"f{number}", draft.content) for number, draft in enumerate(drafts[:MAX_FACTS]))
        given = AnalysisInput("session", claim.id, 1, claim.query or "", claim.claim, facts)
        outputs = (await self.app.analyze(given)).analysis.outputs
        return Findings(tuple(outputs.judgements.values()), _by_stage(outputs))


def _by_stage(outputs: Outputs) -> Mapping[str, int]:
    found = Counter({"3a, fabrication": len(outputs.fabrications or ())})
    found += Counter(f"3b, {item.type}" for item in outputs.distortions or ())
    found += Counter({"3c, contradiction": len(outputs.contradictions or ())})
    return found


@asynccontextmanager
async def open_engine(settings: Settings) -> AsyncIterator[EmbeddedEngine]:
    """Open all models.

    Raises:
        StartupError: the repository lacks the grounding model, or a model cannot be used.
    """
    async with Adapters(settings) as adapters:
        models = await open_models(adapters)
        if models.grounding is None:
            raise StartupError("the model repository lacks the grounding model: there is no verdict to measure")
        workplace = Workplace(policy_of(settings.dpe), load_gazetteer(), Limits(), SystemClock(), RandomIds())
        prints = ", ".join(fingerprint for _, fingerprint in models.fingerprints())
        counter = await open_token_counter(settings.inference)
        yield EmbeddedEngine(ProvenanceApp(models, workplace), models.grounding, counter, prints)
