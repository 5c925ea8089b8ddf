"""Makes the tables of a fleet out of intervals that hotset measured, to test the analyses on."""
