"""A folder of runs in the browser, on this machine: the runs, how far they are, and their answers. Read only."""
