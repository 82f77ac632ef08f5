"""The study behind the default detector: the default and 15 peers on 484 development sets and a gallery of shapes.

`python -m experiments study run peers`, and `run gallery`, `default`, `whole`, do the runs that no line records yet;
`python -m experiments study trial NAME` tries `RDPDetector()` as the working tree has it;
`python -m experiments study report` writes `docs/default.md` and its figures from the lines.
"""
