"""What Word, PowerPoint and Excel files have in common (Office Open XML, ISO/IEC 29500)."""
