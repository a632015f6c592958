"""Figures of the story, each for one of its sections: data of the running example → figure."""
