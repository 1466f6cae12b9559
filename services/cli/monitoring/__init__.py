"""Following a transparency log from outside: what it was, what it is, and what does not fit (ADR 0100)."""

from services.cli.monitoring.follower import Follower, Look
from services.cli.monitoring.rules import EntryRules, Finding, FindingKind
from services.cli.monitoring.state import MonitorState, StateFile

__all__ = ["EntryRules", "Finding", "FindingKind", "Follower", "Look", "MonitorState", "StateFile"]
