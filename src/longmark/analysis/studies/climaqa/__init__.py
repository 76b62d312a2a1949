"""The study of the ClimaQA paper: models under test on a benchmark out of books, in several settings."""
