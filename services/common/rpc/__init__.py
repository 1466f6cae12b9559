"""The runtime: how services are started, served, protected, watched and called."""
