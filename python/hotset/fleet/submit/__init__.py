"""A folder for what ``spark-submit`` starts: Python looks beside a script first, and would find our modules in the place of its own."""
