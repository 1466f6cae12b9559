"""What the guard is measured on."""
