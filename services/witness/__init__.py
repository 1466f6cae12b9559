"""Keepers of heads: a witness that cosigns what grows, and a signer that signs nothing else (ADR 0100).

Neither reads a store of sessions: they see heads and proofs, and remember the last head of each log.
"""

from services.witness.heads import HeadFolder
from services.witness.key_files import key_file
from services.witness.signer import LogSigner
from services.witness.witness import Reply, Witness

__all__ = ["HeadFolder", "LogSigner", "Reply", "Witness", "key_file"]
