"""What was measured, against its bound."""
import dataclasses
import json
import typing

OK, MISSED, OPEN = "ok", "MISSED", "-"


@dataclasses.dataclass
class Line:
    case: str
    what: str
    value: float
    unit: str
    at_least: typing.Optional[float] = None
    at_most: typing.Optional[float] = None

    def verdict(self):
        """A value that is no number misses its bound: it says that nothing was measured."""
        if self.at_least is None and self.at_most is None:
            return OPEN
        above = self.at_least is None or self.value >= self.at_least
        below = self.at_most is None or self.value <= self.at_most
        return OK if above and below else MISSED

    def bound(self):
        if self.at_least is None and self.at_most is None:
            return OPEN
        if self.at_least == self.at_most:
            return f"= {number(self.at_most)}"
        return f">= {number(self.at_least)}" if self.at_most is None else f"<= {number(self.at_most)}"

    def text(self):
        value = f"{number(self.value)} {self.unit}".rstrip()
        return f"  {self.what:<52} {value:>12}  {self.bound():>9}  {self.verdict()}"


class Lines:
    def __init__(self, live):
        # Whether each line is printed as soon as it is known: a whole run takes minutes.
        self.live = live
        self.lines = []

    def add(self, case, what, value, unit, **bounds):
        line = Line(case, what, value, unit, **bounds)
        if self.live:
            if not self.lines or self.lines[-1].case != case:
                print(case, flush=True)
            print(line.text(), flush=True)
        self.lines.append(line)

    def judged(self):
        return sum(line.verdict() != OPEN for line in self.lines)

    def missed(self):
        return sum(line.verdict() == MISSED for line in self.lines)

    def json(self, **head):
        lines = [{**dataclasses.asdict(line), "verdict": line.verdict()} for line in self.lines]
        return json.dumps({**head, "judged": self.judged(), "missed": self.missed(), "lines": lines}, indent=2)


def number(value):
    """Counts as they are, measures with three significant places after small numbers."""
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.3f}" if abs(value) < 10 else f"{value:,.1f}"
