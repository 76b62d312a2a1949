"""The study of the ClimaQA paper: models under test on a benchmark from books, in several settings."""
