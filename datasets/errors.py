"""The error that a user can act on."""


class InputError(ValueError):
    """Something the user gave is wrong; the message is one line.

    It says where (file, byte or line, key), what was found, what is taken, and
    what to do. The commands print it and exit with 1.
    """
