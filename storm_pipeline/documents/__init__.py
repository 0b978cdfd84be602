"""Text from files, whole or in passages: what can be read is, what cannot is reported."""
