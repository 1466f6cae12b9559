"""Answers that wait for a person: held, looked at, released or rejected (CRP-SPEC-002 facts; ADR 0148)."""
