"""Tenants' own providers of language models: kept with sealed keys, found by model name (ADR 0163)."""
