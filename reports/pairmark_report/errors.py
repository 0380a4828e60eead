class ReportError(Exception):
    """One sentence: what is wrong and what to do. The command ends with exit code 2."""
