"""Groundtrail for Python: check an answer against documents, and the typed stubs of every service.

    from groundtrail import check

    result = check("Claims files are kept for 3 years.", ["Claims files are kept for 10 years."])
    print(result.level, [(claim.verdict, claim.why) for claim in result.claims])

What is named in ``__all__`` here, and the stubs, are the public API; every other module may change.
"""

from groundtrail.checking import check
from groundtrail.errors import GroundtrailError
from groundtrail.results import CheckResult, Claim, Level, Quote
from groundtrail.sources import Document, Fact

__all__ = ["CheckResult", "Claim", "Document", "Fact", "GroundtrailError", "Level", "Quote", "check"]
