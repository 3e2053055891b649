"""`python -m kernelpursuit.cli`."""

from kernelpursuit.cli import main

if __name__ == "__main__":
    main()
