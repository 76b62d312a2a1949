"""What the exit code of a command says (`longmark.cli`), without an import: every command needs them."""

BUG = 1
MISTAKE = 2
UNDER = 3
NO_VALUE = 4
UNREADABLE = 5
INTERRUPTED = 130
