"""Whom an output is for that replaces another file: nobody can do more with the new one than with the old one."""
import os
import stat
import struct

from harness import CommandTest, main, numpy

ACCESS, DEFAULT = "system.posix_acl_access", "system.posix_acl_default"
OWNER, USER, OWNING_GROUP, GROUP, MASK, OTHER = 1, 2, 4, 8, 16, 32
NOBODY_IN_PARTICULAR = 0xffffffff
WRITER, FORMER, SHARED, THIRD = 61001, 61002, 61003, 61004  # users and groups that need not have names


def access_list(*entries):
    return struct.pack("<I", 2) + b"".join(
        struct.pack("<HHI", tag, may, number[0] if number else NOBODY_IN_PARTICULAR) for tag, may, *number in entries)


class Access(CommandTest):
    def setUp(self):
        super().setUp()
        os.chmod(self.folder, 0o777)
        self.save("in.npy", numpy.zeros((10, 2), "u4"))
        self.target = self.path("out.npy")

    def replace(self, **more):
        return self.run_command("scan", "in.npy", "-fqo", "out.npy", **more).stderr.decode()

    def as_writer(self, *groups):
        """For run_command(): somebody who may make files in the folder, and is in these groups."""
        who = {"user": WRITER, "group": WRITER, "extra_groups": groups}
        try:
            probe = self.attempt("--version", **who)
        except PermissionError:
            self.skipTest("may not become somebody else here")
        if probe.returncode != 0:
            self.skipTest("somebody else cannot run the command here")
        return who

    def there(self, owner, group, mode, entries=None):
        self.write("out.npy", b"old")
        if os.geteuid() == 0:
            os.chown(self.target, owner, group)
        os.chmod(self.target, mode)
        if entries:
            self.set_list(self.target, ACCESS, entries)

    def set_list(self, path, kind, entries):
        try:
            os.setxattr(path, kind, entries)
        except OSError:
            self.skipTest("no access control lists here")

    def now(self):
        status = os.stat(self.target)
        return status.st_uid, status.st_gid, oct(stat.S_IMODE(status.st_mode))

    def test_permissions_stay(self):
        for mode in (0o640, 0o600, 0o666, 0o604, 0o777, 0o400):
            self.there(os.geteuid(), os.getegid(), mode)
            self.assertEqual(self.replace(), "")
            self.assertEqual(self.now()[2], oct(mode))

    def test_owner_and_group_stay_where_that_is_allowed(self):
        if os.geteuid() != 0:
            self.skipTest("may not give files away")
        self.there(FORMER, SHARED, 0o640)
        self.assertEqual(self.replace(), "")
        self.assertEqual(self.now(), (FORMER, SHARED, "0o640"))

    def test_what_cannot_be_kept_is_for_the_owner_alone(self):
        for groups, owner, group, before, after in (
                ((SHARED,), WRITER, SHARED, 0o640, 0o640), ((SHARED,), FORMER, SHARED, 0o664, 0o600),
                ((SHARED,), FORMER, SHARED, 0o077, 0o000), ((), WRITER, SHARED, 0o640, 0o600),
                ((), WRITER, SHARED, 0o666, 0o600), ((), FORMER, SHARED, 0o744, 0o700)):
            with self.subTest(groups=groups, owner=owner, before=oct(before)):
                self.there(owner, group, before)
                said = self.replace(**self.as_writer(*groups))
                kept = owner == WRITER and group in groups
                self.assertEqual(said == "", kept, said)
                self.assertEqual("out.npy: its owner, group or permissions cannot be kept" in said, not kept)
                self.assertEqual(self.now(), (WRITER, SHARED if kept else WRITER, oct(after)))

    LIST = [(OWNER, 6), (USER, 6, THIRD), (OWNING_GROUP, 4), (GROUP, 4, THIRD), (MASK, 6), (OTHER, 4)]

    def test_a_file_with_an_access_control_list(self):
        self.there(os.geteuid(), os.getegid(), 0o600, access_list(*self.LIST))
        self.assertEqual(self.now()[2], "0o664")  # the mask of the list stands for the group
        self.assertIn("cannot be kept", self.replace())
        self.assertEqual(self.now()[2], "0o600")
        self.assertNotIn(ACCESS, os.listxattr(self.target))

    def test_calls_that_fail(self):
        for inject in ("getxattr:error=EIO", "fremovexattr:error=EIO", "fchown:error=EPERM", "fchmod:error=EPERM"):
            self.there(os.geteuid(), os.getegid(), 0o664)
            result = self.strace(inject, "scan", "in.npy", "-fqo", "out.npy")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn(b"cannot be kept", result.stderr)
            self.assertEqual(self.now()[2], "0o600")

    def test_a_folder_that_has_a_list_for_new_files(self):
        self.there(os.geteuid(), os.getegid(), 0o640)
        self.set_list(self.folder, DEFAULT, access_list(*self.LIST))
        self.assertEqual(self.replace(), "")
        self.assertEqual(self.now()[2], "0o640")
        self.assertNotIn(ACCESS, os.listxattr(self.target))

    def test_a_new_file_has_what_the_umask_leaves(self):
        for mask in (0o022, 0o077, 0o002):
            self.run_command("scan", "in.npy", "-qfo", "new.npy", preexec_fn=lambda: os.umask(mask))
            self.assertEqual(stat.S_IMODE(os.stat(self.path("new.npy")).st_mode), 0o666 & ~mask)
            os.unlink(self.path("new.npy"))

    def test_other_names_keep_the_old_content(self):
        self.write("out.npy", b"old")
        os.link(self.target, self.path("other"))
        self.replace()
        self.assertEqual(self.read("other"), b"old")
        self.assertIn(b"hard links", self.run_command("help", "scan").stdout)


if __name__ == "__main__":
    main()
