"""A verdict is what the bench exists for, so it has tests of its own."""
import pathlib
import tempfile
import unittest

import measure
import programs
import report


class Verdicts(unittest.TestCase):
    def check(self, value, bounds, verdict, bound):
        line = report.Line("case", "what", value, "s", **bounds)
        self.assertEqual((line.verdict(), line.bound()), (verdict, bound))

    def test_a_value_on_its_upper_bound_is_ok(self):
        self.check(2.5, {"at_most": 2.5}, "ok", "<= 2.500")

    def test_a_value_above_its_upper_bound_is_missed(self):
        self.check(2.501, {"at_most": 2.5}, "MISSED", "<= 2.500")

    def test_a_value_below_its_lower_bound_is_missed(self):
        self.check(32.9, {"at_least": 33}, "MISSED", ">= 33")

    def test_a_count_has_to_be_exact(self):
        self.check(7_999, {"at_least": 8_000, "at_most": 8_000}, "MISSED", "= 8,000")

    def test_no_number_is_missed(self):
        self.check(float("nan"), {"at_most": 1}, "MISSED", "<= 1")

    def test_a_value_without_a_bound_is_not_judged(self):
        self.check(1.0, {}, "-", "-")

    def test_only_bounds_count(self):
        lines = report.Lines(live=False)
        lines.add("a", "free", 9.0, "s")
        lines.add("a", "kept", 1, "", at_most=1)
        lines.add("a", "missed", 2, "", at_most=1)
        self.assertEqual((lines.judged(), lines.missed()), (2, 1))


class Spool(unittest.TestCase):
    def check(self, files, expected):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for path, text in files.items():
                (folder / path).write_text(text, encoding="utf-8")
            self.assertEqual(dict(programs.spooled_issues(folder)), expected)

    def test_an_issue_that_stands_twice_is_counted_twice(self):
        line = '[OBS] {"entity":{"issue":7,"repo":"o/r"}}\n'
        self.check({"obs-1.json": line, "obs-2.json": line}, {7: 2})

    def test_a_torn_file_is_an_error(self):
        with self.assertRaisesRegex(measure.BenchError, "obs-1.json"):
            self.check({"obs-1.json": '[OBS] {"entity"'}, {})


class Processes(unittest.TestCase):
    def test_a_failing_command_is_an_error_with_its_stderr(self):
        with self.assertRaisesRegex(measure.BenchError, "(?s)exit 3 of.*no such ledger"):
            measure.run(["sh", "-c", "echo no such ledger >&2; exit 3"])

    def test_a_missing_program_is_an_error_that_names_it(self):
        with self.assertRaisesRegex(measure.BenchError, "cannot start ./absent"):
            measure.run(["./absent"])

    def test_memory_is_the_childs_in_bytes(self):
        small = measure.run(["true"]).max_rss
        large = measure.run(["python3", "-c", "b'x' * 200_000_000"]).max_rss
        self.assertLess(small, 100_000_000)
        self.assertGreater(large, 200_000_000)


if __name__ == "__main__":
    unittest.main()
