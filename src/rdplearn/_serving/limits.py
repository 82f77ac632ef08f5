"""How much one request may ask for."""

from __future__ import annotations

from dataclasses import dataclass

from rdplearn._serving.problems import too_large


@dataclass(frozen=True)
class Limits:
    """The most that a request may have.

    Parameters
    ----------
    n_bytes : of the body
    n_rows : to score
    n_explained : rows to explain, each of which costs as much as scoring it once for every column
    seconds : from the first byte of the request to the last one of the answer
    """

    n_bytes: int = 16 << 20
    n_rows: int = 100_000
    n_explained: int = 1_000
    seconds: float = 30.0

    def check_rows(self, n_rows: int, most: int) -> None:
        """See that there are not too many rows.

        Examples
        --------
        >>> Limits().check_rows(5_000, 1_000)  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        rdplearn._serving.problems.ProblemError: The request has 5,000 rows, and at most 1,000 are accepted...
        """
        if n_rows > most:
            raise too_large(
                f"The request has {n_rows:,} rows, and at most {most:,} are accepted. Send fewer at a time."
            )
