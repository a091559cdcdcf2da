package fs

import "golang.org/x/sys/unix"

// passThrough opens a folder that may only be searched, not listed.
const passThrough = unix.O_PATH
