"""Experiments in a database.

experiments   Store: what pages list, draw, rename, pin, delete, export and import
attempts      how a worker writes the results of one replication
recorder      collects the records of a replication and writes them in batches
models        users' own models, which runs name by the hash of their content
transfer      exported experiments as JSON, checked when they are imported
copies        backup and restore of a SQLite file
arrays        policies and values as compact bytes
schema        the tables and their migrations
database      transactions, and errors as clear messages
"""
