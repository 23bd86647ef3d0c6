"""Retrieval tasks in MTEB's and BEIR's layouts, from a folder or the hub."""
