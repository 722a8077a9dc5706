"""Evaluate with jobs of SLURM, on a login node: python slurm.py CONFIG

Needs the package dask-jobqueue. Change the queue, the account and the path of the environment.
"""

import sys

from dask_jobqueue import SLURMCluster

import harness

if __name__ == "__main__":
    with SLURMCluster(
        queue="long",
        account="ir",
        cores=8,
        processes=8,
        memory="32GB",
        walltime="04:00:00",
        job_script_prologue=["source /shared/venv/bin/activate"],
    ) as cluster:
        cluster.scale(jobs=4)
        print(harness.run(sys.argv[1], scheduler=cluster.scheduler_address))
