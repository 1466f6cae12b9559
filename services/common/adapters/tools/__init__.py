"""Tools of others: the registry that lists them, and how they are called over HTTP and MCP (ADR 0161)."""
