"""``python -m storm_pipeline`` is ``storm``."""

from storm_pipeline.cli import main

if __name__ == "__main__":
    main()
