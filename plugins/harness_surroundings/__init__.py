"""Context from the document itself: its headings, a passage's neighbours, its first sentences."""
