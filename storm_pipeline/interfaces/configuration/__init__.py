"""Settings given on the command line, in files and in the environment, and what a run with them needs."""
