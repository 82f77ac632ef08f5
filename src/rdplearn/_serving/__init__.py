"""Models over HTTP: rows come in as JSON, Arrow or tensors; scores, alarms and reasons go out.

`bodies`, `tensors` and `arrow_streams` make rows of what was sent; `models` keeps the model files and loads them anew
when they change; `scoring` does the work, for requests that wait at the same time together (`together`); `routes` has
the pages, `gate` stands before all of them with the limits and the token, and `server` runs it.
"""
