"""What a terminal is shown of a run that takes long."""
import concurrent.futures
import os
import subprocess
import time

from harness import CommandTest, main, numpy


class Progress(CommandTest):
    def said_on_a_terminal(self, sent, *arguments):
        """The text on standard error, a terminal, of a command that takes more than a second. `sent`: what standard
        input brings in pieces; None: its output is taken so."""
        ours, theirs = os.openpty()
        process = self.start(*arguments, stdin=subprocess.PIPE, stderr=theirs,
                             stdout=subprocess.PIPE if sent is None else subprocess.DEVNULL)
        os.close(theirs)
        for i in range(16):
            if sent is None:
                process.stdout.read(1 << 22)
            else:
                process.stdin.write(sent[len(sent) // 16 * i:len(sent) // 16 * (i + 1)])
                process.stdin.flush()
            time.sleep(0.1)
        process.stdin.close()
        if sent is None:
            process.stdout.read()
            process.stdout.close()
        self.assertEqual(process.wait(), 0)
        said = b""
        try:
            while piece := os.read(ours, 4096):
                said += piece
        except OSError:
            pass  # how a terminal ends
        os.close(ours)
        return said

    def run_on_a_terminal(self, *options):
        """The text on standard error, a terminal, of a scan that takes more than a second: more bytes than a pipe holds
        come, so that time counts from when the command reads them."""
        return self.said_on_a_terminal(bytes(16 << 20), "scan", "-", "--type", "u8", "--columns", 1, *options, "-o",
                                       "/dev/null")

    def test_of_every_subcommand_that_runs_long(self):
        table = numpy.arange(16 << 20, dtype="u4")
        self.save("table.npy", table)
        self.run_command("scan", "table.npy", "-qo", "sums.npy")
        sent = table.tobytes()
        line = rb"(?s)\A(\r\x1b\[K\d+ rows( of \d+ \(\d+ %\))?, [0-9.]+ GB/s(, \d+ s left)?)+\r\x1b\[K"
        runs = [(sent, ["verify", "-", "sums.npy", "--type", "u32", "--columns", 1]),
                (sent, ["count", "-", "--type", "u32", "-o", "/dev/null"]),
                (sent, ["hist", "-", "--type", "u32", "--range", "0:1e8"]),
                (sent, ["sort", "-", "--type", "u32", "-o", "/dev/null"]),
                (None, ["gen", "--type", "u32", "--rows", 20 << 20, "--columns", 1, "-o", "-"])]
        runs += [(data, words + ["--no-progress"]) for data, words in runs]
        with concurrent.futures.ThreadPoolExecutor(len(runs)) as threads:
            for (_, words), said in zip(runs, threads.map(lambda run: self.said_on_a_terminal(run[0], *run[1]), runs)):
                if "--no-progress" in words:
                    self.assertNotIn(b"GB/s", said, words)
                else:
                    self.assertRegex(said, line, words)

    def test_on_a_terminal(self):
        self.assertRegex(self.run_on_a_terminal(), rb"(?s)\r\x1b\[K\d+ rows, [0-9.]+ GB/s.*\r\x1b\[Ktuplescan: scan: 16777216 x 1")
        self.assertEqual(self.run_on_a_terminal("-q"), b"")
        self.assertRegex(self.run_on_a_terminal("--no-progress"), rb"\Atuplescan: scan: 16777216 x 1")


if __name__ == "__main__":
    main()
