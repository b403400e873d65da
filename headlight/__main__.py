"""`python -m headlight`: the command `headlight`."""

from headlight.command import main

if __name__ == "__main__":
    main()
