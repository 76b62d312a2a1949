"""What both served pages stand on (`longmark view`, `longmark annotate`): connections, the address, the headers."""
