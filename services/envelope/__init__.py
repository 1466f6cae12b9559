"""The envelope service: the knowledge fabric, and the context envelopes that are packed from it (CRP-SPEC-003)."""
