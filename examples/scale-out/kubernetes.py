"""Evaluate with pods of Kubernetes: python kubernetes.py CONFIG

Needs the package dask-kubernetes and the operator of Dask. The image needs the same versions of
Python and of all packages. Inputs have URLs, because pods share no folder with your machine.
"""

import sys

from dask_kubernetes.operator import KubeCluster

import harness

if __name__ == "__main__":
    with KubeCluster(
        name="harness",
        image="registry.example.org/harness:1",
        n_workers=8,
        resources={"requests": {"cpu": "1", "memory": "4Gi"}, "limits": {"memory": "4Gi"}},
        env={"AWS_ENDPOINT_URL": "https://store.example.org"},
        worker_command=["dask", "worker", "--nthreads", "1"],
    ) as cluster:
        print(harness.run(sys.argv[1], scheduler=cluster.scheduler_address))
