"""`python -m rdplearn.cli` is `rdplearn`."""

from rdplearn.cli.app import main

main()
