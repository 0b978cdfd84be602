"""Services asked over HTTP: politely, patiently, within bounds."""
