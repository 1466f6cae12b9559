"""Violation reports: filed by a dispatch, sent behind it, kept when nobody takes them (ADR 0149)."""
