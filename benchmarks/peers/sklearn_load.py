"""scikit-learn reads a LETOR file, and nothing else: ``DATA``."""

import sys

from sklearn.datasets import load_svmlight_file

load_svmlight_file(sys.argv[1], query_id=True)
