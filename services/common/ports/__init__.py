"""What services need of the world, as Protocols in domain types; one concept a file."""
