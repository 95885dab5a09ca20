"""Drop-ins for the stores that agents already run."""
