"""``python -m storm_pipeline`` is ``storm``."""

import sys

if __name__ == "__main__":
    if not sys.flags.safe_path:
        del sys.path[0]  # the current folder, whose modules would be imported in place of libraries
    from storm_pipeline.interfaces.cli import main

    main()
