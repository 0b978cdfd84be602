"""Sources: which pages an article may draw on, who says so, and what was kept out."""
