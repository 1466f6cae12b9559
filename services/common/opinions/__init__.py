"""What an endpoint is asked for a second opinion, and how its answer is read; pure (ADR 0119)."""
