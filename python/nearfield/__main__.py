"""python -m nearfield: the command line."""

from nearfield._cli import main

main()
