/* The proof that the emulator's tests can fail. Small tables go through the real kernels, and the examples run, each
 * time with one deliberate fault; some seed must notice it: by a result that differs, by a misuse, or by a sanitizer.
 * The runs are processes of their own, for a sanitizer ends them. */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "emulator.h"
#include "fault_parts.h"
#include "fiber.h"

/* 24 seeds for each barrier that is known not to be noticed would be half of all runs. */
constexpr uint64_t MOST_SEEDS = 24, SEEDS_OF_SPARED = 6, SEEDS_WITHOUT_FAULT = 3;
/* Of small tables; `nothing` would wait forever if it were too little. Most of a run that hangs is this. */
constexpr uint64_t PATIENCE = 500000;

struct planted {
    std::string name;
    emulator_fault fault;
    int which;
    std::string place; /* of a barrier */
    uint32_t parts;    /* those that it may show in */
};

/* In a process of its own: whether the fault was noticed with that seed. */
static bool notices(const char *self, const planted &what, uint64_t seed) {
    const std::string arguments[] = {std::to_string(what.fault), std::to_string(what.which), std::to_string(seed),
                                     std::to_string(what.parts)};
    const pid_t child = fork();
    if (child == 0) {
        if (!freopen("/dev/null", "w", stderr)) /* what a sanitizer has to say is expected */
            _exit(0);
        execl(self, self, arguments[0].c_str(), arguments[1].c_str(), arguments[2].c_str(), arguments[3].c_str(),
              what.place.c_str(), nullptr);
        _exit(0);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child)
        abort();
    return !(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
static int be_noticed(char **argv) {
    emulator_quiet(getenv("TUPLESCAN_EMULATOR_LOUD") == nullptr);
    emulator_patience(PATIENCE);
    emulator_seed(strtoull(argv[3], nullptr, 0));
    emulator_set_fault(static_cast<emulator_fault>(atoi(argv[1])), atoi(argv[2]));
    emulator_set_fault_place(argv[5]);
    return fault_parts_are_right(static_cast<uint32_t>(strtoul(argv[4], nullptr, 0))) ? 0 : 1;
}

/* Faults known not to be noticed: so many barriers of a file, and why. */
static struct {
    const char *file;
    int barriers;
    const char *why;
} spared[] = {
    {"resident/wave_exchange.cuh", 2, "what is not cleared matters where a word holds the new tag by chance"},
    {"persistent/packed.cuh", 1,
     "descriptors are cleared long before a packed tile of these tables publishes its totals"},
    {"persistent/packed.cuh", 1, "the last packed tile of a block writes nothing that others still read"},
    {"persistent/stage2/prefix_wide.cuh", 1,
     "totals come long after the ring was cleared; one seed in hundreds has it otherwise"},
};

static auto *spare_of(const std::string &place) {
    const auto has = [&](const auto &each) { return place.find(each.file) != std::string::npos && each.barriers > 0; };
    const auto found = std::find_if(std::begin(spared), std::end(spared), has);
    return found == std::end(spared) ? nullptr : found;
}

static int caught = 0, missed = 0;

static void count(bool right, const char *format, const char *name, uint64_t seed) {
    right ? caught++ : missed++;
    printf(format, name, static_cast<unsigned long long>(seed));
}

static void expect_caught(const char *self, const planted &what) {
    const auto spare = spare_of(what.place);
    const uint64_t seeds = spare ? SEEDS_OF_SPARED : MOST_SEEDS;
    for (uint64_t seed = 1; seed <= seeds; seed++)
        if (notices(self, what, seed))
            return count(true, "%s: caught by seed %llu\n", what.name.c_str(), seed);
    if (!spare)
        return count(false, "%s: NOT CAUGHT by %llu seeds\n", what.name.c_str(), seeds);
    spare->barriers--;
    printf("%s: not caught, as is known: %s\n", what.place.c_str(), spare->why);
}

/* Runs each part without a fault, and finds which barriers of the sources it comes to. */
static std::vector<planted> find_barriers() {
    std::vector<planted> found;
    std::vector<uint64_t> visits;
    for (size_t index = 0; index < FAULT_PARTS; index++) {
        if (!fault_parts_are_right(1u << index)) {
            printf("%s: wrong without a fault: %s\n", fault_part_name(index), emulator_report());
            missed++;
            emulator_clear();
        }
        for (int which = 0; which < emulator_barriers(); which++) {
            const size_t at = static_cast<size_t>(which);
            if (at == found.size()) {
                const std::string place = emulator_barrier_place(which);
                found.push_back({"barrier at " + place, EMULATOR_FAULT_BARRIER, 0, place, 0});
                visits.push_back(0);
            }
            if (emulator_barrier_visits(which) > visits[at])
                found[at].parts |= 1u << index;
            visits[at] = emulator_barrier_visits(which);
        }
    }
    return found;
}

/* "file:line", as a part of a longer path. */
static bool is_among(const std::string &place, const std::vector<planted> &found) {
    for (const planted &each : found) {
        const std::string path = std::filesystem::path(each.place).lexically_normal().string();
        if (path.size() >= place.size() && path.compare(path.size() - place.size(), place.size(), place) == 0)
            return true;
    }
    return false;
}

/* Each barrier of a block in the sources of the kernels was come to, or else it is one that no table here needs. */
static void look_for_others(const std::string &kernels, const std::vector<planted> &found) {
    for (const auto &entry : std::filesystem::recursive_directory_iterator(kernels)) {
        const std::string name = std::filesystem::relative(entry.path(), kernels).string();
        const std::string end = entry.path().extension().string();
        if ((end != ".cu" && end != ".cuh") || name.compare(0, 7, "device/") == 0)
            continue;
        std::ifstream file(entry.path());
        std::string line;
        for (unsigned number = 1; std::getline(file, line); number++) {
            size_t at = std::string::npos;
            for (const char *name : {"block_barrier(", "block_barrier_any(", "block_hand_over(", "block_take_over("})
                at = std::min(at, line.find(name));
            const size_t comment = line.find("/*");
            if (at == std::string::npos || comment < at || line.find_first_not_of(" ") == line.find("*"))
                continue;
            const std::string place = name + ":" + std::to_string(number);
            if (!is_among("/" + place, found))
                count(false, "barrier at %s: no table comes to it (%llu)\n", place.c_str(), 0);
        }
    }
}

int main(int argc, char **argv) {
    if (argc == 6)
        return be_noticed(argv);
    setvbuf(stdout, nullptr, _IOLBF, 0);
    emulator_seed(1);
    const std::vector<planted> barriers = find_barriers();
    const planted nothing = {"nothing", EMULATOR_FAULT_NONE, 0, "", ALL_FAULT_PARTS};
    for (uint64_t seed = 1; seed <= SEEDS_WITHOUT_FAULT; seed++)
        if (notices(argv[0], nothing, seed))
            count(false, "%s: seed %llu notices a fault where there is none\n", nothing.name.c_str(), seed);
    for (const planted &each : barriers)
        expect_caught(argv[0], each);
    if (!EMULATOR_SANITIZED && argc == 2)
        look_for_others(argv[1], barriers);
    const struct {
        planted what;
        bool seen_by_tsan, seen_by_others;
    } others[] = {
        {{"store_release relaxed", EMULATOR_FAULT_RELAXED_RELEASE, 0, "", ALL_FAULT_PARTS}, true, true},
        {{"load_acquire relaxed", EMULATOR_FAULT_RELAXED_ACQUIRE, 0, "", ALL_FAULT_PARTS}, true, false},
        {{"shuffle masks without lane 31", EMULATOR_FAULT_MASK, 31, "", ALL_FAULT_PARTS}, true, true},
        {{"tail one row short", EMULATOR_FAULT_TAIL, -1, "", ALL_FAULT_PARTS}, false, true},
        {{"tail one row long", EMULATOR_FAULT_TAIL, 1, "", ALL_FAULT_PARTS}, false, true},
        {{"bulk copies not waited for", EMULATOR_FAULT_COPY_WAIT, 0, "", ALL_FAULT_PARTS}, true, true},
    };
    for (const auto &each : others)
        if (EMULATOR_TSAN ? each.seen_by_tsan : each.seen_by_others)
            expect_caught(argv[0], each.what);
    printf("%d passed, %d failed, 0 skipped\n", caught, missed);
    return missed > 0;
}
