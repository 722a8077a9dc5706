"""Evaluate with worker processes of this machine: python local.py CONFIG"""

import sys

from dask.distributed import LocalCluster

import harness

if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1) as cluster:
        print(harness.run(sys.argv[1], scheduler=cluster.scheduler_address))
