"""A run: its folder, its session, what it has bought, used and told, and the bounds it keeps."""
