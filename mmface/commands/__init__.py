"""The command ``mmface``: a module a command.

Each module has ``add_arguments(parser)``, ``run(args) -> int`` (the exit code) and a docstring that is its help. None imports anything
heavy before ``run``, so that the help and the completion answer at once. The scripts in ``tools/`` are the same modules.
"""
