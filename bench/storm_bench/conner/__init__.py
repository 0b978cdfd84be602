"""CONNER (Chen et al. 2023): acquired knowledge scored from six perspectives, one file a perspective.

Intrinsic: :mod:`factuality` (eq. 1), :mod:`relevance` (2), :mod:`sentence_coherence` (3), :mod:`paragraph_coherence`
(4), :mod:`informativeness` (5). Extrinsic: :mod:`helpfulness` (6), :mod:`validity` (7 and 8). Each takes its model as
a protocol of one method and a name; :mod:`named_models` opens those of Table 14 and those that work offline.
"""
