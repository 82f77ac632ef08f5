"""The front page: the README's table of evidence and its picture, made from what the repository holds.

`python -m experiments front-page` writes the table anew from the pages of results, which are generated from result
files; `python -m experiments front-page --picture` takes the picture of the report anew, too.
"""
