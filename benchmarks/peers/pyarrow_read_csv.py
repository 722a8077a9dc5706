"""Arrow's CSV reader alone, on all six columns of a TREC run: ``RUN``."""

import sys

from pyarrow import csv

csv.read_csv(
    sys.argv[1],
    read_options=csv.ReadOptions(autogenerate_column_names=True),
    parse_options=csv.ParseOptions(delimiter=" "),
)
