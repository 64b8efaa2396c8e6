"""Completion in shells: what the command offers is what its help describes and what it accepts, and bash, zsh and fish
ask it. Shells that are not here are skipped."""
import os
import re
import shutil
import subprocess

from harness import COMMAND, NO_INPUT, CommandTest, main

SCRIPTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/completion")


class Words(CommandTest):
    def complete(self, *words):
        """{word: its description}"""
        lines = self.run_command("--complete", *words).stdout.decode().splitlines()
        return dict((line + "\t").split("\t")[:2] for line in lines)

    def subcommands(self):
        return re.findall(r"^  tuplescan (\w+) +\.\.\.  (.*)$", self.run_command("help").stdout.decode(), re.MULTILINE)

    def test_subcommands(self):
        offered = self.complete("")
        for name, summary in self.subcommands():
            self.assertEqual(offered.pop(name), summary)
        self.assertEqual(set(offered), {"help", "--help", "--version"})
        self.assertEqual(set(self.complete("s")), {"scan", "sum", "sort"})
        self.assertEqual(set(self.complete("help", "s")), {"scan", "sum", "sort"})
        self.assertEqual(self.complete("no-such", "-"), {})

    def test_options_are_those_of_the_help(self):
        for name, _ in self.subcommands():
            text = self.run_command("help", name).stdout.decode()
            heads = " ".join(re.findall(r"^ {2,6}(-.*?)(?:  .*)?$", text, re.MULTILINE))
            offered = self.complete(name, "-")
            offered.pop("--help")
            with self.subTest(subcommand=name):
                self.assertEqual(set(offered), set(re.findall(r"--[a-z-]+", heads + " " + text.split("\n")[0])) - {"--help"})
                for option in offered:
                    self.assertEqual(offered[option] != "", option in heads, "what is said about " + option)

    def test_what_is_said_of_an_option_is_in_the_help(self):
        text = " ".join(self.run_command("help", "scan").stdout.decode().split())
        for option, about in self.complete("scan", "--").items():
            if option != "--help":
                self.assertIn(about, text)
        self.assertEqual(self.complete("scan", "--carry-o"),
                         {"--carry-out": "write the sums through the last row, as a table file of one row"})

    def test_values_are_accepted(self):
        for option, least in (("--backend", 3), ("--type", 8), ("--out-type", 8), ("--input-format", 2),
                              ("--output-format", 2)):
            values = self.complete("scan", "in", option, "")
            self.assertGreaterEqual(len(values), least)
            for value in values:
                self.run_command("scan", "no-such", "-o", "out", option, value, code=NO_INPUT)
        self.assertEqual(set(self.complete("bench", "--types", "u")), {"u8", "u16", "u32", "u64"})
        self.assertEqual(set(self.complete("scan", "--backend", "=")), {"auto", "cpu", "cuda"})
        self.assertEqual(set(self.complete("scan", "--backend", "=", "c")), {"cpu", "cuda"})

    def test_files(self):
        for words in (["scan", ""], ["scan", "--carry-in", ""], ["scan", "-o", "-"], ["scan", "in.npy", "--qui", "x"]):
            self.assertEqual(self.complete(*words), {})


class Shells(CommandTest):
    """Each script, in its shell: `tuplescan scan --back` and `tuplescan scan --backend c` and a file."""

    def shell(self, shell, *arguments):
        if not shutil.which(shell):
            self.skipTest(shell + " is not installed")
        os.symlink(COMMAND, self.path("tuplescan"))
        self.write("a-file", b"")
        done = subprocess.run([shell, *arguments], cwd=self.folder, capture_output=True, text=True,
                              env={**os.environ, "PATH": self.folder + ":" + os.environ["PATH"], "HOME": self.folder})
        self.assertEqual(done.stderr, "")
        return done.stdout.splitlines()

    def test_bash(self):
        script = f"""
            . {SCRIPTS}/tuplescan.bash
            complete -p tuplescan | grep -o -- '-F [a-z_]* tuplescan'
            try() {{ COMP_WORDS=(tuplescan "$@"); COMP_CWORD=$#; _tuplescan tuplescan; echo "${{COMPREPLY[*]}}"; }}
            try scan --back; try scan --backend c; try scan --backend = c; try scan a-; try so"""
        self.assertEqual(self.shell("bash", "-c", script),
                         ["-F _tuplescan tuplescan", "--backend", "cpu cuda", "cpu cuda", "", "sort"])

    def test_zsh(self):
        script = f"""
            fpath=({SCRIPTS} $fpath); autoload -Uz _tuplescan
            _describe() {{ print -- ${{(P)@[-1]}} }}; _files() {{ print a file }}
            try() {{ words=(tuplescan "$@"); CURRENT=$#words; PREFIX=$words[-1]; _tuplescan }}
            try scan --back; try scan --backend c; try scan a-; try so"""
        self.assertEqual(self.shell("zsh", "-f", "-c", script),
                         ["--backend:auto, cpu or cuda", "cpu cuda", "a file", "sort:sort keys, and values with them"])

    def test_fish(self):
        script = f"""
            source {SCRIPTS}/tuplescan.fish
            complete -C 'tuplescan scan --back'; complete -C 'tuplescan scan --backend c'
            complete -C 'tuplescan scan a-'; complete -C 'tuplescan so'"""
        self.assertEqual(self.shell("fish", "--no-config", "-c", script),
                         ["--backend\tauto, cpu or cuda", "cpu", "cuda", "a-file",
                          "sort\tsort keys, and values with them"])


if __name__ == "__main__":
    main()
