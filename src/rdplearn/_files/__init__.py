"""Files of any kind: written whole or not at all, values from untrusted ones checked, read ahead on another thread.

Comes in: paths, plain values, batches. Goes out: the same, safely. Knows nothing of tables or models.
"""
