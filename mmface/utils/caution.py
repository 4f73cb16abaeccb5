"""What everybody who compares faces is told, in the help, the answers and on the page."""

CAUTION = """\
A similarity is not a probability that two photos show one person, and a threshold holds for images like those it was chosen on.
Nothing here tells a living face from a picture of one: a printed photo passes. Nothing here says that you may compare these people:
that takes their consent."""
