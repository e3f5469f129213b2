"""HTML that does not depend on what it shows: notebook tables, and the frame, style and parts of pages."""
