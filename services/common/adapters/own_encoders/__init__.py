"""Encoders that users bring: a folder as a hub gives it becomes a model of a repository of their own (ADR 0120)."""
