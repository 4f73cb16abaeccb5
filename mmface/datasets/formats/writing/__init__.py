"""What writers of training sets share."""
