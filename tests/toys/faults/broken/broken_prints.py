"""A plugin that prints when it is imported."""

print("welcome")
