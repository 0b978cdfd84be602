"""Progress of runs and batches on the terminal, and the summary of a batch."""
