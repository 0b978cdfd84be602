"""People's judgement of articles, and language models' through the same door: ``python -m storm_bench.raters``.

``study.py`` reads the file that describes a study, ``scales.py`` its questions, ``articles.py`` its articles, without
the marks of their writers. ``assignment.py`` draws who rates what, ``store.py`` keeps it with the answers in SQLite,
``sheets.py`` makes the pages of a rater and ``app.py`` serves them. ``results.py`` and ``agreement.py`` evaluate the
answers, ``report.py`` writes them as tables like the papers'.
"""
