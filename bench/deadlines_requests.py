"""The largest honest requests that ``bench.deadlines`` sends, each of plain sentences about made-up offices."""

import uuid
from typing import Final

from crp.ckf.v1 import ckf_pb2, knowledge_service_pb2
from crp.common.v1 import taxonomy_pb2
from crp.dpe.v1 import guard_pb2, guard_service_pb2, provenance_service_pb2
from crp.envelope.v1 import envelope_pb2, envelope_service_pb2
from crp.gateway.v1 import dispatch_service_pb2
from ercp.v1 import ercp_pb2, ercp_service_pb2

from bench.dpe_corpus import case

MODEL: Final = "gpt-4o"


def prose(chars: int, seed: int = 0) -> str:
    """Return so many characters of plain sentences."""
    text = case(chars // 40, min(chars // 40, 1_000), seed).answer
    while len(text) < chars:
        seed += 1
        text += " " + case(chars // 40, min(chars // 40, 1_000), seed).answer
    return text[:chars]


def analyze(chars: int) -> provenance_service_pb2.AnalyzeRequest:
    """Return the analysis of so many characters against two hundred facts."""
    facts = case(1, 200).facts
    envelope = envelope_pb2.ContextEnvelope(
        facts=[
            envelope_pb2.EnvelopeFact(fact_id=f"{number:064x}", content=fact, source_id=f"{number:064x}")
            for number, fact in enumerate(facts)
        ]
    )
    return provenance_service_pb2.AnalyzeRequest(
        session_id=str(uuid.uuid4()),
        window_id=str(uuid.uuid4()),
        window_number=1,
        query="What should be known about the offices?",
        response_text=prose(chars),
        envelope=envelope,
    )


def check(chars: int) -> provenance_service_pb2.CheckRequest:
    """Return the check of so many characters against two hundred facts."""
    facts = [provenance_service_pb2.CheckFact(content=fact) for fact in case(1, 200).facts]
    return provenance_service_pb2.CheckRequest(answer=prose(chars), facts=facts)


def grounds() -> list[guard_pb2.GroundingText]:
    """Return two hundred facts as the guard takes them."""
    return [guard_pb2.GroundingText(id=f"f{number}", content=fact) for number, fact in enumerate(case(1, 200).facts)]


def coherence(chars: int) -> guard_service_pb2.ScoreCoherenceRequest:
    """Return the score of an answer of so many characters."""
    question = "What should be known about the offices?"
    return guard_service_pb2.ScoreCoherenceRequest(prompt=question, response=prose(chars), facts=grounds())


def claims(chars: int) -> guard_service_pb2.VerifyClaimsRequest:
    """Return the verification of the claims of so many characters."""
    return guard_service_pb2.VerifyClaimsRequest(response=prose(chars), sources=grounds())


def ingest(chars: int, media_type: str = "text/plain") -> knowledge_service_pb2.IngestSourceRequest:
    """Return a document of so many characters."""
    text = prose(chars).replace(". ", ".\n\n")
    if media_type == "text/html":
        text = "".join(f"<p>{part}</p>" for part in text.split("\n\n"))
    return knowledge_service_pb2.IngestSourceRequest(
        request_id=str(uuid.uuid4()),
        uri=f"file:{uuid.uuid4()}.txt",
        media_type=media_type,
        source_type=ckf_pb2.SOURCE_TYPE_INTERNAL,
        content=text.encode(),
    )


def build() -> envelope_service_pb2.BuildEnvelopeRequest:
    """Return a build with the longest query."""
    return envelope_service_pb2.BuildEnvelopeRequest(
        query=prose(30_000), model=MODEL, session_id=str(uuid.uuid4()), window_id=str(uuid.uuid4())
    )


def dispatch() -> dispatch_service_pb2.DispatchRequest:
    """Return a dispatch with the longest query."""
    return dispatch_service_pb2.DispatchRequest(
        request_id=str(uuid.uuid4()), query=prose(16_000), strategies=[taxonomy_pb2.DISPATCH_STRATEGY_PUSH]
    )


def verify(chars: int) -> ercp_service_pb2.VerifyRequest:
    """Return the verification of so many characters."""
    passages = [
        ercp_service_pb2.RetrievalPassage(source=f"p{number}", text=fact)
        for number, fact in enumerate(case(1, 64).facts)
    ]
    config = ercp_service_pb2.VerifyConfig(run_fact_check=True)
    return ercp_service_pb2.VerifyRequest(
        request_id=str(uuid.uuid4()), reasoning_text=prose(chars), retrieval_context=passages, verify_config=config
    )


def extract(chars: int) -> ercp_service_pb2.ExtractConstraintsRequest:
    """Return a thousand errors of a long text."""
    text = prose(chars)
    step = len(text) // 1_000
    return ercp_service_pb2.ExtractConstraintsRequest(
        request_id=str(uuid.uuid4()),
        reasoning_text=text,
        errors=[
            ercp_pb2.Error(
                error_id=f"e{number}",
                type=ercp_pb2.ERROR_TYPE_CONTRADICTION,
                span=[number * step, (number + 1) * step],
                excerpt=text[number * step : (number + 1) * step],
                confidence=0.9,
                detected_by=["rule"],
            )
            for number in range(1_000)
        ],
    )


def run() -> ercp_service_pb2.RunRequest:
    """Return a run over a long description."""
    return ercp_service_pb2.RunRequest(
        request_id=str(uuid.uuid4()), problem=ercp_pb2.Problem(id="p", description=prose(30_000))
    )
