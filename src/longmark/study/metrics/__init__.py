"""The properties of metrics: what their scores look like, and whether they tell systems apart (CCRS, section 4.1)."""
