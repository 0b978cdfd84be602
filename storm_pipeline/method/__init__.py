"""The steps of the method and the writers of the paper."""
