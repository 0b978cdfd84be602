"""Fault injection: runs that are killed, hung, short of disk space, or served with errors."""
