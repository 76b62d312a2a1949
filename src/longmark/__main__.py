"""`python -m longmark`: the same as the command `longmark`."""

import sys

from longmark.cli import main

if __name__ == "__main__":
    sys.exit(main())
