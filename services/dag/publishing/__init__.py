"""Signed heads on their way out: to a file, an endpoint, witnesses, on a schedule (ADR 0100)."""

from services.dag.publishing.cosigning import Cosigning, HeadSource
from services.dag.publishing.metrics import PublishingMetrics, Result, Together
from services.dag.publishing.publisher import Publisher, PublisherParts
from services.dag.publishing.targets import EndpointTarget, FileTarget, Target

__all__ = [
    "Cosigning",
    "EndpointTarget",
    "FileTarget",
    "HeadSource",
    "Publisher",
    "PublisherParts",
    "PublishingMetrics",
    "Result",
    "Target",
    "Together",
]
