"""People judge pools: the page, who is asked what, the log of every judgement, and what becomes of them."""
