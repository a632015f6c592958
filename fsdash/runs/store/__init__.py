"""Experiments in a database.

experiments   Store: what pages list, draw, rename, pin, delete, export and import
attempts      how a worker writes the results of one replication
recorder      collects the records of a replication and writes them in batches
progress      how far the runs of an experiment are
models        users' own models, which runs name by the hash of their content
transfer      exported experiments as JSON, checked when they are imported
retry         waiting for a store that is temporarily unavailable
copies        backup and restore of a SQLite file
arrays        policies and values as compact bytes
schema        the tables and their migrations
database      transactions, and errors as clear messages
"""
