"""OpenAI's form of a chat before a provider: answers are checked on their way back (check mode, ADR 0132)."""
