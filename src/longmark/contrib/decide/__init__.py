"""What human labels and few scores decide: corrected means, which answers to label next, certificates, audits of
judges, and scoring until a comparison is decided.

Of `longmark.contrib.make` it uses the perturbations of answers, which an audit asks a judge about.
"""
