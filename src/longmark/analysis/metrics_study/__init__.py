"""Properties of metrics on several systems: discriminative power, ties, correlations, costs."""

from longmark.analysis.metrics_study.page import document
from longmark.analysis.metrics_study.study import MetricsStudy, metrics_study

__all__ = ["MetricsStudy", "document", "metrics_study"]
