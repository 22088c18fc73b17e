"""`python -m seqzoo.zoo.commands` is `seqzoo`."""

import sys

from seqzoo.zoo.commands.main import main

sys.exit(main())
