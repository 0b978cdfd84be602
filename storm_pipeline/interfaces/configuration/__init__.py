"""Settings from the command line, files and the environment, and checks of a run's requirements."""
