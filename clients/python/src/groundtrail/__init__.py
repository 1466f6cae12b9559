"""Groundtrail for Python: check answers against documents, ask, guard a client, and the typed stubs of every service.

    from groundtrail import check

    result = check("Claims files are kept for 3 years.", ["Claims files are kept for 10 years."])
    print(result.level, [(claim.verdict, claim.why) for claim in result.claims])

What is named in ``__all__`` here, and the stubs, are the public API; every other module may change.
"""

from groundtrail.answers import Answer
from groundtrail.async_client import AsyncGroundtrail, AsyncSession
from groundtrail.checking import check
from groundtrail.client import Groundtrail, Session
from groundtrail.errors import GroundtrailError, WithheldError
from groundtrail.guarding.wrapping import guard
from groundtrail.results import CheckResult, Claim, Level, Quote
from groundtrail.sources import Document, Fact

__all__ = [
    "Answer",
    "AsyncGroundtrail",
    "AsyncSession",
    "CheckResult",
    "Claim",
    "Document",
    "Fact",
    "Groundtrail",
    "GroundtrailError",
    "Level",
    "Quote",
    "Session",
    "WithheldError",
    "check",
    "guard",
]
