"""Clients of OpenAI's and Anthropic's packages whose answers are checked before they are handed on (ADR 0154)."""
