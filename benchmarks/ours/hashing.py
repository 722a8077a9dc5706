"""Read a run: ``RUN hashed`` or ``RUN alone``; reports its own seconds."""

import sys
import time

from harness.readers import read_run
from harness.readers.source import Source

path, how = sys.argv[1:]
wall, cpu = time.perf_counter(), time.process_time()
source = Source(path, hashed=how == "hashed")
rows = read_run(source).numbers.size
if source.hashed:
    source.sha256()
print(rows)
print("seconds", time.perf_counter() - wall, time.process_time() - cpu)
