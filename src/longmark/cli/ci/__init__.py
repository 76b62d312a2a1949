"""`longmark ci github|gitlab`: the workflow that scores a run of longmark.yaml on each pull request, and compares it with
the last run of the branch that the pull request goes to.

GitHub's workflow uses the action of this package, which is copied beside it: the repository then holds all that runs,
whatever host longmark comes from. GitLab has no such action, so its file has the lines themselves.
"""
