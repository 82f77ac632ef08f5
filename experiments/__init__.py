"""The paper's tables and figures, with our numbers beside the paper's: `python -m experiments --help`."""
