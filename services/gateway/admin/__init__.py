"""What administrators do to their own tenant."""
