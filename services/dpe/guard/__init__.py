"""GuardService: answers and prompts are scored outside a session, by the models of the provenance service."""
