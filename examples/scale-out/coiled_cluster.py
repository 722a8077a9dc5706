"""Evaluate with machines of Coiled, or any cluster with a tls:// address: python ... CONFIG

Needs the package coiled. Inputs have URLs, because the machines share no folder with this one.
"""

import sys

import coiled
import dask

import harness

if __name__ == "__main__":
    with coiled.Cluster(name="harness", n_workers=8, worker_options={"nthreads": 1}) as cluster:
        own = cluster.security
        keys = {
            "distributed.comm.tls.ca-file": own.tls_ca_file,
            "distributed.comm.tls.client.cert": own.tls_client_cert,
            "distributed.comm.tls.client.key": own.tls_client_key,
        }
        with dask.config.set(keys):
            print(harness.run(sys.argv[1], scheduler=cluster.scheduler_address))
