"""A tenant's transparency log: signed heads, proofs, and exports that are checked without a server (ADR 0053)."""

from services.dag.transparency.exporting import ExportProofs, ProvenExport
from services.dag.transparency.log import Inclusion, SignedHead, TransparencyApp
from services.dag.transparency.signing import HeadSigners

__all__ = ["ExportProofs", "HeadSigners", "Inclusion", "ProvenExport", "SignedHead", "TransparencyApp"]
