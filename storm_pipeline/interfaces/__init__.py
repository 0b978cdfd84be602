"""What people and programs start runs with."""
