#!/bin/sh
# one_object.sh ALL ARCHIVE OBJCOPY AR CC...: makes the archive of all objects of ALL linked into one, in which hidden
# names are local. A program may then have a function of the same name as one of ours: it neither replaces it nor
# clashes with it.
set -eu
all=$1 archive=$2 objcopy=$3 ar=$4
shift 4
object=${archive%.a}.o
"$@" -r -nostdlib -Wl,--force-group-allocation -Wl,--whole-archive "$all" -Wl,--no-whole-archive -o "$object"
"$objcopy" --localize-hidden "$object"
rm -f "$archive"
"$ar" rcs "$archive" "$object"
