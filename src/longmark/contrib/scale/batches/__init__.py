"""Calls in batches, at the vendors' lower price.

vendors.py knows the vendors' APIs, journal.py keeps on disk what was submitted, tracker.py takes one batch through its
states at its vendor, batcher.py decides what is sent when and gives each call its reply.
"""
