#!/bin/sh
# CAS JSON of UIMA, as INCEpTION exports a document, by dkpro-cassis.
../in_venv.sh make.py dkpro-cassis==0.12.0
