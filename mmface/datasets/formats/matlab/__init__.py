"""MATLAB files of the versions 5 to 7."""
