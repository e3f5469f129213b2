"""The report on a study: the views of the dashboard in one HTML file, which opens without a server and without a network."""
