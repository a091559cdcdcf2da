package fs

import "golang.org/x/sys/unix"

// passThrough opens a folder for searching, without the right to list it.
const passThrough = unix.O_PATH
