"""The project: settings, the edges that every app shares, and the apps that all others stand on."""
