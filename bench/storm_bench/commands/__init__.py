"""The commands of `storm experiment`, which join the command line of the package through an entry point."""
