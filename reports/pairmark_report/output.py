"""Writes a report: each file whole or not at all, report.html last."""

import os
import re
import tempfile

from .errors import ReportError

# Pictures that an earlier report may have left; those not written again are removed.
_PICTURE = re.compile(r"(speedup|waterfall|rates|samples)-([0-9]+|weak|strong)\.png")


def prepare_folder(folder):
    """Makes the folder and finds out before any work whether it can be written to."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise _cannot_write(folder, error) from None
    return folder


def write_all(folder, files):
    """files: name -> bytes. All are written beside their place before the first is moved to it."""
    written = []
    try:
        for name, content in files.items():
            handle, temporary = tempfile.mkstemp(prefix="." + name + ".", dir=folder)
            written.append((temporary, name))
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(temporary, 0o666 & ~_umask())
        while written:
            temporary, name = written[0]
            os.replace(temporary, folder / name)
            written.pop(0)
        for entry in folder.iterdir():
            if _PICTURE.fullmatch(entry.name) and entry.name not in files:
                entry.unlink()
    except OSError as error:
        raise _cannot_write(folder, error) from None
    finally:
        for temporary, _ in written:
            os.unlink(temporary)


def _umask():
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def _cannot_write(folder, error):
    return ReportError(
        f"cannot write to {folder}: {error.strerror}; give a folder that can be written with -o DIR"
    )
