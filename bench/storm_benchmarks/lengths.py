"""Patterns that readers of untrusted text once took excessive time for; :mod:`.fuzz` mixes them."""

PATTERNS = (
    *("A. B. ", "{", "[", '{"a":', "*a", "The king had it. He went ", ".", "'a b. C ", "(a. B ", '"a. B ', "你好。"),
    *("<think>", "</think>", "# ", "a\n", "< ", "_a", "[1", "[1]", "1,", "__", "\\[", "[a](", "`", "\\", "1 and "),
    *(" ", "Dr. ", "| a ", "- a\n", "lower case words go\n", "[1] \n", "**a**", "\u0301", "1.1 ", "?!", "\n", "#"),
)
