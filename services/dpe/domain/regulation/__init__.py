"""The regulatory tables of stage 12 as data, and the rules that read them (SPEC-005 §14; ADR 0039)."""
