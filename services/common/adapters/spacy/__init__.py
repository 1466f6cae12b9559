"""Entity recognition with spaCy and deterministic patterns."""
