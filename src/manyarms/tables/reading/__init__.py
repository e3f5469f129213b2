"""Reading tables from files: CSV in any dialect, and Parquet."""
