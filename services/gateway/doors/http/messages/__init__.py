"""Anthropic's form of a chat (``POST /v1/messages``), in every mode (ADR 0143)."""
