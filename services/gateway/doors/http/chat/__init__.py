"""Chats over HTTP in three modes, and OpenAI's form of them (ADR 0132, ADR 0140 to 0142)."""
