"""What a person sees while runs and batches go on, and when they have ended."""
