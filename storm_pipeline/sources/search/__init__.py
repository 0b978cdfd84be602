"""Search: one protocol, the engines that satisfy it, and what they share."""
