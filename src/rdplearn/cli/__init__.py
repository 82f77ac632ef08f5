"""The command line: parse, call, print, exit code."""

from rdplearn.cli.app import main as main
