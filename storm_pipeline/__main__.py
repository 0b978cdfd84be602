"""``python -m storm_pipeline`` is ``storm``."""

import sys

if __name__ == "__main__":
    if not sys.flags.safe_path:
        del sys.path[0]  # remove the current folder: its modules would hide libraries
    from storm_pipeline.interfaces.cli import main

    main()
