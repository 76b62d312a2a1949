"""What makes examples: questions of a domain, variants of questions. Each writes a file that the next verb reads."""
