"""The arguments of each command; what a command does is loaded when it is called."""
