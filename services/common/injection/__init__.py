"""Injection of instructions into what a language model reads: normalisation, rules, matching (ADR 0125)."""
