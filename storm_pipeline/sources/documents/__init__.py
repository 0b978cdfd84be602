"""Text extraction from files, whole or in passages; unreadable files are reported."""
