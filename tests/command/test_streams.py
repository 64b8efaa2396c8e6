"""Standard input and output of any kind, and where the time went."""
import json
import os
import signal
import subprocess
import threading
import time

from harness import IO_ERROR, CommandTest, main, numpy, random_table, running_sums


class Streams(CommandTest):
    def setUp(self):
        super().setUp()
        self.table = random_table("u32", (100000, 3))
        self.save("in.npy", self.table)

    def run_slowly(self, *arguments, input=b""):
        """The command with pipes that do not wait (O_NONBLOCK), on which little is to be had at a time."""
        in_read, in_write = os.pipe()
        out_read, out_write = os.pipe()
        for fd in (in_read, out_write):
            os.set_blocking(fd, False)
        process = self.start(*arguments, stdin=in_read, stdout=out_write, stderr=subprocess.PIPE)
        os.close(in_read)
        os.close(out_write)

        def feed():
            with open(in_write, "wb", buffering=0) as pipe:
                for start in range(0, len(input), 300000):
                    time.sleep(0.02)
                    pipe.write(input[start:start + 300000])

        feeder = threading.Thread(target=feed)
        feeder.start()
        time.sleep(0.2)
        with open(out_read, "rb", buffering=0) as pipe:
            found = b""
            while piece := pipe.read(1 << 15):
                found += piece
        feeder.join()
        error = process.stderr.read()
        process.stderr.close()
        self.assertEqual(process.wait(), 0, error)
        return found

    def test_those_that_do_not_wait(self):
        found = self.run_slowly("scan", "-", "-qo", "-", input=self.read("in.npy"))
        self.assertEqual(found[-2 * self.table.nbytes:], running_sums(self.table, "u64").tobytes())
        printed = self.run_slowly("hist", "in.npy", "--bins", 20000)
        self.assertGreater(len(printed), 1 << 18)
        self.assertEqual(printed, self.run_command("hist", "in.npy", "--bins", 20000).stdout)

    def test_a_reader_that_leaves_is_no_news(self):
        self.write("values", bytes(100))
        for command in (["scan", "in.npy", "-o", "-"], ["scan", "in.npy", "-o", "-", "--carry-out", "carry.npy"],
                        ["hist", "in.npy", "--bins", "20000"], ["scan", "in.npy", "-o", "fifo"]):
            out_read, out_write = os.pipe()
            if "fifo" in command:
                command[-1] = "/dev/fd/%d" % out_write
            process = self.start(*command, stderr=subprocess.PIPE, stdout=out_write, pass_fds=[out_write])
            os.close(out_write)
            self.assertEqual(len(os.read(out_read, 10)), 10)
            os.close(out_read)
            error = process.communicate()[1]
            self.assertEqual((process.returncode, error), (-signal.SIGPIPE, b""))
            self.assertEqual(self.listing(), ["in.npy", "values"])

    def test_whoever_ignores_that_signal_is_told(self):
        def ignore():
            signal.signal(signal.SIGPIPE, signal.SIG_IGN)

        for command in (["scan", "in.npy", "-o", "-"], ["hist", "in.npy", "--bins", "20000"]):
            process = self.start(*command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=ignore,
                                 restore_signals=False)
            self.assertEqual(len(os.read(process.stdout.fileno(), 10)), 10)
            process.stdout.close()
            error = process.stderr.read()
            process.stderr.close()
            self.assertEqual(process.wait(), IO_ERROR)
            self.assertIn(b"standard output: Broken pipe\n", error)


class Times(CommandTest):
    STEPS = ("read_seconds", "work_seconds", "write_seconds", "free_seconds")

    def commands(self):
        self.save("in.npy", numpy.arange(3 << 20, dtype="u4"))  # large enough to be brought in beforehand
        for command in (["scan"], ["sort"], ["sort", "--argsort"], ["count", "--chunk", "50"], ["hist", "--bins", "5"]):
            yield [command[0], "in.npy", *command[1:], "-f", "-o", "out.npy", "--json"]

    def test_they_add_up(self):
        for command in self.commands():
            start = time.monotonic()
            said = json.loads(self.run_command(*command).stdout)
            elapsed = time.monotonic() - start
            self.assertAlmostEqual(sum(said[step] for step in self.STEPS), said["total_seconds"], delta=1e-6)
            self.assertLessEqual(said["total_seconds"], elapsed)
            # Most of a scan goes on while it is read and written.
            self.assertLessEqual(said["seconds"], said["total_seconds" if command[0] == "scan" else "work_seconds"])

    def test_each_moment_is_in_its_step(self):
        lasts = 0.25
        for inject in ("fsync", "rename,renameat2", "fallocate"):
            step = "write_seconds"
            for command in self.commands():
                result = self.strace("%s:delay_exit=%d" % (inject, 1e6 * lasts), *command)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertGreaterEqual(json.loads(result.stdout)[step], lasts, (inject, command))

    def test_waiting_for_the_input_is_reading(self):
        self.save("in.npy", numpy.arange(1000, dtype="u4"))
        data = self.read("in.npy")
        process = self.start("scan", "-", "-o", "out.npy", "--json", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for piece in (data[:1000], data[1000:2000], data[2000:]):
            process.stdin.write(piece)
            process.stdin.flush()
            time.sleep(0.1)
        said = json.loads(process.communicate()[0])
        self.assertGreaterEqual(said["read_seconds"], 0.1)

    def test_the_summary_has_them(self):
        self.save("in.npy", numpy.arange(10, dtype="u4"))
        for command in ("sort", "count", "hist"):
            said = self.run_command(command, "in.npy", "-fo", "out.npy").stderr.decode()
            self.assertRegex(said, r"[0-9.e+]+ ms in all: reading [0-9.e+-]+, working [0-9.e+-]+, writing [0-9.e+-]+\n$")
        for name, words in (("scan", ["scan", "in.npy", "-fo", "out.npy"]), ("append", ["append", "in.npy", "--to", "to.npy"])):
            said = self.run_command(*words).stderr.decode()
            self.assertRegex(said, r"^tuplescan: %s: 10 x 1, u32 -> u64\n"
                             r"tuplescan: %s: [0-9.e+-]+ s, [0-9.e+-]+ GB/s\n$" % (name, name))
        said = json.loads(self.run_command(*words, "--json").stdout)
        bytes_of_all = said["total_gb_per_second"] * said["total_seconds"] * 1e9
        self.assertAlmostEqual(bytes_of_all, 10 * 4 + 10 * 8, places=3)


if __name__ == "__main__":
    main()
