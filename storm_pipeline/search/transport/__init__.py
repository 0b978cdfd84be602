"""How engines are asked over HTTP: politely, patiently, within bounds."""
