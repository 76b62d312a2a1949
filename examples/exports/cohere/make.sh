#!/bin/sh
# Cohere's SDK (chat of version 2) on loopback, each reply as its json() gives it.
../in_venv.sh make.py cohere==7.3.1
