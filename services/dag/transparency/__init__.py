"""A tenant's transparency log: signed heads, proofs, and exports that are checked without a server (ADR 0053)."""

from services.dag.transparency.cosigned import CosignedHeads
from services.dag.transparency.entries import LogEntries
from services.dag.transparency.exporting import ExportProofs, ProvenExport
from services.dag.transparency.log import Inclusion, SignedHead, TransparencyApp
from services.dag.transparency.process_signing import ProcessSigners
from services.dag.transparency.signing import HeadSigners

__all__ = [
    "CosignedHeads",
    "ExportProofs",
    "HeadSigners",
    "Inclusion",
    "LogEntries",
    "ProcessSigners",
    "ProvenExport",
    "SignedHead",
    "TransparencyApp",
]
