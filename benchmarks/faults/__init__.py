"""What becomes of runs that are killed, failed by servers, hung, or short of disk space."""
