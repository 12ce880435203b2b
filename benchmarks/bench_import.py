"""How long does `import goblin` take on top of `import numpy`?

Fresh interpreters in turn, with every module compiled before: processor time of the whole process,
as the median over the rounds of the difference within a round.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile

from harness import Contender, Report, arguments, race

STATEMENTS = ("import numpy", "import goblin")


def main() -> None:
    args = arguments(__doc__, repeat=31)
    report = Report("import", "milliseconds of processor time of a process that imports", args)
    with tempfile.TemporaryDirectory() as compiled:
        contenders = [contender(statement, compiled) for statement in STATEMENTS]
        race(contenders, 1)  # compiles
        times = race(contenders, args.repeat)
    for statement in STATEMENTS:
        report.row(statement=statement, ms=times.median(statement) / 1e6)
    numpy, goblin = (times.rounds[statement] for statement in STATEMENTS)
    more = statistics.median(b - a for a, b in zip(numpy, goblin, strict=True)) / 1e6
    report.figure("import goblin beyond import numpy", more, 15.0, "ms")
    report.finish()


def contender(statement: str, compiled: str) -> Contender:
    env = {**os.environ, "PYTHONPYCACHEPREFIX": compiled}
    env.pop("PYTHONDONTWRITEBYTECODE", None)

    def run(_: None) -> None:
        subprocess.run([sys.executable, "-c", statement], env=env, check=True)

    return Contender(statement, run, 1, clock=of_children)


def of_children() -> float:
    """Processor seconds of the processes that have ended."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


if __name__ == "__main__":
    main()
