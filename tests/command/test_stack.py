"""The command with little stack: `ulimit -s 64`, of which arguments and environment take a part."""
import os

from harness import RNG, CommandTest, main, numpy, random_table


class SmallStack(CommandTest):
    KIB, ENVIRONMENT_BYTES = 64, 12 << 10

    def run_small(self, *arguments):
        environment = dict(os.environ, TUPLESCAN_TEST_FILLER="x" * self.ENVIRONMENT_BYTES)
        small = ["sh", "-c", 'ulimit -s %d && exec "$@"' % self.KIB, "sh"]
        return self.run_command(*arguments, before=small, env=environment).stdout

    def setUp(self):
        super().setUp()
        self.keys = random_table("u32", (200000,))
        self.save("table.npy", random_table("u8", (50000, 5)).astype("u8"))
        self.save("keys.npy", self.keys)
        self.save("bytes.npy", self.keys.astype("u1"))
        self.save("weights.npy", RNG.standard_normal(200000))

    def test_scans(self):
        self.run_small("scan", "table.npy", "-o", "sums.npy", "--carry-out", "carry.npy")
        self.run_small("scan", "table.npy", "-o", "sums.npy", "-f", "--exclusive")
        self.run_small("scan", "table.npy", "-o", "-")
        self.run_small("verify", "table.npy", "sums.npy", "--exclusive")
        self.run_small("info", "table.npy")

    def test_keys(self):
        for name in ("keys.npy", "bytes.npy"):
            self.run_small("sort", name, "-o", "sorted.npy", "-f")
            self.run_small("sort", name, "--argsort", "-o", "order.npy", "-f")
            self.run_small("count", name, "-o", "counts.npy", "-f")
            self.run_small("hist", name, "--bins", "200", "--json")
            self.run_small("hist", name, "--bins", "200", "--weights", "weights.npy")
        numpy.testing.assert_array_equal(self.load("sorted.npy"), numpy.sort(self.keys.astype("u1")))

    def test_others(self):
        self.run_small("gen", "--type", "f32", "--rows", "100", "--columns", "3", "-o", "made.npy")
        self.run_small("help")
        self.run_small("bench", "--help")


if __name__ == "__main__":
    main()
