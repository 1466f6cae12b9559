"""The gateway: dispatches queries over the other services, and administers keys, systems and policies."""
