"""The suite as tools of the Model Context Protocol: search, ask, check, verify (ADR 0155)."""
