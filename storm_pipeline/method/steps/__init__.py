"""The steps of the method, each a plain function of the run's context and its inputs."""
