"""All services in one process: the same servicers on one server, no logic of its own."""
