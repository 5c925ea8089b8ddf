"""What the comparison of documents and outputs notices, and what it lets pass: `python3 -m unittest discover -s tests/docs`."""

import tempfile
import unittest
from pathlib import Path

import pages
import run
import sandbox
import shape

REPORT = [
    "Where the time went  (of 414 ms)",
    "  fsync              ███████▌     51.4 ms  12.4 %",
    "",
    "Page cache  (buffered reads)",
    "  requested    869 pages  3.39 MiB          in 732 reads",
    "  from device  729 pages  2.85 MiB  83.9 %  207 missed, 522 read ahead",
    "  mappings     168 faults",
]


def matches(expected: list[str], actual: list[str], *varying: str) -> bool:
    return shape.matches(expected, actual, varying) is not None


class Noticed(unittest.TestCase):
    def test_a_wrong_word(self) -> None:
        self.assertFalse(matches(REPORT, [line.replace("missed", "found") for line in REPORT]))

    def test_a_lost_line(self) -> None:
        for lost in (0, 3, 4, 5, 6):
            self.assertFalse(matches(REPORT, REPORT[:lost] + REPORT[lost + 1 :]), REPORT[lost])

    def test_a_line_more(self) -> None:
        self.assertFalse(matches(REPORT, [*REPORT, "  writes       2 calls"]))
        self.assertFalse(matches(REPORT, ["hotset: 3 events were lost", *REPORT]))

    def test_lines_that_changed_places(self) -> None:
        self.assertFalse(matches(REPORT, [*REPORT[:4], REPORT[5], REPORT[4], REPORT[6]]))

    def test_a_number_that_became_a_word(self) -> None:
        self.assertFalse(matches(["from device  729 pages"], ["from device  no pages"]))

    def test_another_path(self) -> None:
        self.assertFalse(matches(["/srv/shop/shop.db  4.21 ms"], ["/srv/shop/other.db  4.21 ms"]))

    def test_an_output_that_is_empty(self) -> None:
        self.assertFalse(matches(REPORT, []))
        self.assertFalse(matches([], REPORT))

    def test_segments_in_another_order(self) -> None:
        self.assertFalse(matches(["…", REPORT[5], "…", REPORT[4], "…"], REPORT))

    def test_a_segment_that_ends_elsewhere(self) -> None:
        self.assertFalse(matches(["…", REPORT[5]], REPORT))
        self.assertFalse(matches([REPORT[4], "…"], REPORT))

    def test_a_heading_of_a_varying_section_that_is_lost(self) -> None:
        self.assertFalse(matches(["Medians  wall", "  cold  8 ms"], ["  cold  8 ms"], "Medians"))


class LetPass(unittest.TestCase):
    def test_other_numbers_and_units(self) -> None:
        other = ["  requested    2 pages  8.00 KiB          in 1,732 reads", "  from device  0 pages  0 B  <1 %  1 missed, 0 read ahead"]
        self.assertTrue(matches(REPORT[4:6], other))

    def test_a_rate_in_another_unit(self) -> None:
        self.assertTrue(matches(["fetched in 66.1 ms (968 MiB/s)"], ["fetched in 0.05 s (1.2 GiB/s)"]))
        self.assertFalse(matches(["fetched in 66.1 ms (968 MiB/s)"], ["fetched in 66.1 ms (968 MiB/run)"]))

    def test_the_severity_of_a_finding(self) -> None:
        finding = "  CRITICAL  95 % of path lookups fail"
        self.assertTrue(matches([finding], [finding.replace("CRITICAL", "INFO    ")]))
        self.assertFalse(matches([finding], [finding.replace("CRITICAL  ", "")]))

    def test_rows_of_sections_that_depend_on_the_host(self) -> None:
        other = [REPORT[0].replace("414 ms", "2.3 s"), "  path lookups  █  1 ms  2 %", "  CPU  █▌  9 ms  80 %", *REPORT[2:]]
        self.assertTrue(matches(REPORT, other))

    def test_rows_of_sections_that_the_page_names(self) -> None:
        self.assertTrue(matches(["Medians", "  cold  8 ms  ", "end"], ["Medians", "  all failed", "  at once", "end"], "Medians"))

    def test_what_an_ellipsis_stands_for(self) -> None:
        self.assertTrue(matches(["…", REPORT[4], "…", REPORT[6]], REPORT))
        self.assertTrue(matches(["…"], []))

    def test_a_sentence_that_breaks_elsewhere(self) -> None:
        self.assertTrue(matches(["would save 46.3 ms to", "50.4 ms of the run"], ["would save 6 ms to 1.4 s", "of the run"]))

    def test_a_path_that_is_cut(self) -> None:
        self.assertTrue(matches(["cc1 -quiet -I include/01 -I i…  96 ms"], ["cc1 -quiet -I include/01 -I inc…  9 ms"]))


class Refreshed(unittest.TestCase):
    def test_lines_are_written_anew_and_ellipses_stay(self) -> None:
        command = pages.Command("x", 1, expected=["…", "  mappings     1 fault" + "s", ""])
        self.assertEqual(run._refreshed(command, REPORT), ["…", "  mappings     168 faults", ""])

    def test_rows_of_a_varying_section_are_kept(self) -> None:
        command = pages.Command("x", 1, expected=["Medians", "  cold  8 ms"], varying=["Medians"])
        self.assertEqual(run._refreshed(command, ["Medians", "  warm  1 ms", "  cold  9 ms"]), ["Medians", "  warm  1 ms", "  cold  9 ms"])


class Pages(unittest.TestCase):
    def read(self, text: str) -> pages.Page:
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "page.md"
            path.write_text(text, encoding="utf-8")
            return pages.read(path)

    def test_set_ups_commands_and_outputs(self) -> None:
        page = self.read('# Q\n\n```sh setup\nmkdir a\n```\n\n```console exit=3 varies="Medians|A B"\n$ one \\\n  two\nout\n$ three\n```\n')
        setup, block = page.blocks
        self.assertEqual((setup.commands[0].text, setup.commands[0].compared), ("mkdir a", False))
        one, three = block.commands
        self.assertEqual((one.text, one.expected, one.exit_code), ("one \\\n  two", ["out"], 0))
        self.assertEqual((three.text, three.expected, three.exit_code), ("three", [], 3))
        self.assertEqual(three.varying, ["Medians", "A B"])

    def test_a_hidden_set_up_is_run(self) -> None:
        page = self.read("<!-- setup\ntrue\n-->\n")
        self.assertEqual(page.blocks[0].commands[0].text, "true")

    def test_what_is_not_run_has_its_reason(self) -> None:
        page = self.read('```console norun="no cluster"\n$ kubectl get pods\n```\n')
        self.assertEqual((page.blocks, page.left_out), ([], [(1, "no cluster")]))

    def test_a_block_that_shows_commands_and_is_not_run_is_refused(self) -> None:
        for text in ("```\n$ hotset ls\n```\n", "```sh\n$ hotset ls\n```\n"):
            with self.assertRaises(pages.PageError):
                self.read(text)

    def test_blocks_that_are_not_understood_are_refused(self) -> None:
        for text in ("```console\n$ a\n", "```console\nout\n$ a\n```\n", "```console\n```\n", "<!-- setup\ntrue\n"):
            with self.assertRaises(pages.PageError):
                self.read(text)


class Verdicts(unittest.TestCase):
    def faults(self, command: pages.Command, output: list[str], code: "int | None") -> str:
        return " ".join(text for _, text in run._faults(command, sandbox.Ran(output, code), update=False))

    def test_a_wrong_exit_code(self) -> None:
        self.assertIn("exit code 1, the page says 0", self.faults(pages.Command("false", 1), [], 1))
        self.assertIn("exit code 0, the page says 1", self.faults(pages.Command("true", 1, exit_code=1), [], 0))
        self.assertEqual(self.faults(pages.Command("false", 1, exit_code=1), [], 1), "")

    def test_a_set_up_that_fails(self) -> None:
        self.assertIn("exit code 2", self.faults(pages.Command("x", 1, compared=False), [], 2))

    def test_a_command_that_never_ends(self) -> None:
        self.assertIn("never ended", self.faults(pages.Command("cat", 1), [], None))

    def test_another_output(self) -> None:
        fault = self.faults(pages.Command("x", 1, expected=["one file"]), ["two files"], 0)
        self.assertIn("- one file", fault)
        self.assertIn("+ two files", fault)


if __name__ == "__main__":
    unittest.main()
