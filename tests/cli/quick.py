"""What the tests of the command line share, beside fixtures."""

#: Settings under which a fit takes a moment.
QUICK = ("--set", "gamma=0.5", "--set", "max_atoms=12")
#: Features of the table that is fitted.
NAMES = ["area", "rooms", "age"]
