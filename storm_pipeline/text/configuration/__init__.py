"""Parts of settings: their types, addresses, providers, variables, and earlier names."""
