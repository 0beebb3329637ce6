"""Studies of Optuna as a space and a history: what was said by running, read from the trials."""

from hidim.studies.reader import Reading, StudyReader, check_space, fingerprint, read_study

__all__ = ["Reading", "StudyReader", "check_space", "fingerprint", "read_study"]
