"""The only room that writes a timeline while it happens, and that publishes to the channel layer."""
