"""Whom an output is for that replaces another file: nobody can do more with the new one than with the old one."""
import os
import stat
import struct
import subprocess

from harness import COMMAND, CommandTest, main, numpy

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
            probe = subprocess.run([COMMAND, "--version"], capture_output=True, **who)
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

    def test_the_group_stays_where_the_writer_is_in_it(self):
        who = self.as_writer(SHARED)
        self.there(WRITER, SHARED, 0o640)
        self.assertEqual(self.replace(**who), "")
        self.assertEqual(self.now(), (WRITER, SHARED, "0o640"))
        self.there(FORMER, SHARED, 0o664)
        self.assertIn("out.npy: its owner cannot be kept", self.replace(**who))
        self.assertEqual(self.now(), (WRITER, SHARED, "0o664"))
        self.there(FORMER, SHARED, 0o077)  # the former owner is one of the group or of the others
        self.replace(**who)
        self.assertEqual(self.now(), (WRITER, SHARED, "0o0"))

    def test_what_was_for_another_group_is_for_nobody(self):
        who = self.as_writer()
        for before, after in ((0o640, 0o600), (0o664, 0o644), (0o660, 0o600), (0o604, 0o600), (0o666, 0o666)):
            self.there(WRITER, SHARED, before)
            self.assertIn("out.npy: its group cannot be kept", self.replace(**who))
            self.assertEqual(self.now(), (WRITER, WRITER, oct(after)))
        self.there(FORMER, SHARED, 0o644)
        self.assertIn("owner and group", self.replace(**who))
        self.assertEqual(self.now(), (WRITER, WRITER, "0o644"))

    LIST = [(OWNER, 6), (USER, 6, THIRD), (OWNING_GROUP, 4), (GROUP, 4, THIRD), (MASK, 6), (OTHER, 0)]

    def test_an_access_control_list_stays(self):
        entries = access_list(*self.LIST)
        self.there(os.geteuid(), os.getegid(), 0o600, entries)
        self.assertEqual(self.replace(), "")
        self.assertEqual(os.getxattr(self.target, ACCESS), entries)
        self.assertEqual(self.now()[2], "0o660")

    def test_of_another_group(self):
        who = self.as_writer()
        self.there(WRITER, SHARED, 0o600, access_list(*self.LIST))
        self.assertIn("group", self.replace(**who))
        changed = [entry if entry[0] != OWNING_GROUP else (OWNING_GROUP, 0) for entry in self.LIST]
        self.assertEqual(os.getxattr(self.target, ACCESS), access_list(*changed))

    def test_a_list_that_cannot_be_kept(self):
        for entries, mode in ((self.LIST, 0o640), ([*self.LIST[:-1], (OTHER, 4)], 0o644),
                              ([(OWNER, 6), (USER, 0, THIRD), (OWNING_GROUP, 4), (MASK, 4), (OTHER, 4)], 0o600)):
            self.there(os.geteuid(), os.getegid(), 0o600, access_list(*entries))
            result = self.strace("fsetxattr:error=EOPNOTSUPP", "scan", "in.npy", "-fqo", "out.npy")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn(b"access control list", result.stderr)
            self.assertEqual(self.now()[2], oct(mode))
            self.assertNotIn(ACCESS, os.listxattr(self.target))

    def test_a_folder_that_has_a_list_for_new_files(self):
        self.there(os.geteuid(), os.getegid(), 0o640)
        self.set_list(self.folder, DEFAULT, access_list(*self.LIST))
        self.assertEqual(self.replace(), "")
        self.assertEqual(self.now()[2], "0o640")
        self.assertNotIn(ACCESS, os.listxattr(self.target))
        self.run_command("scan", "in.npy", "-qo", "new.npy", preexec_fn=lambda: os.umask(0o077))
        with open(self.path("like.npy"), "wb"):
            pass
        self.assertEqual(os.getxattr(self.path("new.npy"), ACCESS), os.getxattr(self.path("like.npy"), ACCESS))

    def test_other_names_keep_the_old_content(self):
        self.write("out.npy", b"old")
        os.link(self.target, self.path("other"))
        self.replace()
        self.assertEqual(self.read("other"), b"old")
        self.assertIn(b"hard links", self.run_command("help", "scan").stdout)


if __name__ == "__main__":
    main()
