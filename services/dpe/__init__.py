"""The Decision Provenance Engine: checks an answer against its envelope (CRP-SPEC-005)."""
