"""`python -m fsdash` is the command line."""

import sys

from fsdash.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
