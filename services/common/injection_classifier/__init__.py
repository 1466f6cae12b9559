"""The classifier of prompt injection: what it reads, what it weighs, and its file (ADR 0227)."""
