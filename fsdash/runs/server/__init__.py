"""Experiments computed by worker processes.

manager      starts, pauses, resumes and cancels experiments, and watches the workers
sharing      how owners share the workers
work_queue   the queue of replications, who may add to it, and the leases of servers
worker       what a worker does for a server: one replication, recorded in the store
"""
