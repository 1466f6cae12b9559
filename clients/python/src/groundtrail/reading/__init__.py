"""Reads a text as the services do; standard library alone."""
