"""Articles written elsewhere, as articles to score: imported files, and systems' and human articles in a data set."""
