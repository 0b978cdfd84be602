"""CONNER (Chen et al. 2023): knowledge scored from six perspectives; :mod:`.perspectives` has the equations."""
