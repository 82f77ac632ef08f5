"""The version of rdplearn, for whatever writes it down."""

__version__ = "0.2.0"
