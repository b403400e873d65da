"""The picture of a share for link previews."""
