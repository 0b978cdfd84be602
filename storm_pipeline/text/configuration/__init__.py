"""What settings are made of: their types, addresses, providers, variables, and earlier names."""
