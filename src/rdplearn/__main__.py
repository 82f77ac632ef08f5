"""`python -m rdplearn` is `rdplearn`."""

from rdplearn.cli.app import main

main()
