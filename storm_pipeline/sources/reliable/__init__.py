"""Which pages an article may use, by which rating, and what was kept out."""
