"""The study behind the default detector: candidates and peers on 132 development sets, and what follows from it.

`python -m experiments study run peers` and `... study run candidates` do the runs that no line records yet;
`python -m experiments study report` writes `docs/default.md` and its figures from the lines.
"""
