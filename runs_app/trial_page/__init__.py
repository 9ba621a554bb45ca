"""What the trial page shows, made of stored evidence."""
