"""The dashboard: a local, read-only web page that shows the studies of a storage while they run."""
