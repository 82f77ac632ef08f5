"""Model files: a fitted model in one file that executes nothing.

`models` saves and loads, `container` knows the file and nothing of models, and each estimator has a file that takes it
apart and puts it together again. `docs/model_files.md` describes the format.
"""
