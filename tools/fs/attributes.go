package fs

import (
	"bytes"
	"encoding/binary"
	"errors"
	"maps"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// ownAttributes lists extended attributes that a write does not copy to the new content: capabilities, which a changed
// file must lose, and those that the system sets itself.
var ownAttributes = []string{"security.capability", "security.ima", "security.evm", "com.apple.provenance"}

// sameAttributes reports whether two files have the same extended attributes, including an access list. It returns
// false if they can't be read.
func sameAttributes(a, b string) bool {
	as, err := attributes(a)
	bs, err2 := attributes(b)
	return err == nil && err2 == nil && maps.EqualFunc(as, bs, bytes.Equal)
}

// attributes returns the extended attributes of a file; none if the file system does not support them.
func attributes(path string) (map[string][]byte, error) {
	names, err := grown(func(buf []byte) (int, error) { return unix.Llistxattr(path, buf) })
	if errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.ENOSYS) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	all := make(map[string][]byte)
	for name := range strings.SplitSeq(string(names), "\x00") {
		if name == "" || slices.Contains(ownAttributes, name) {
			continue
		}
		if all[name], err = grown(func(buf []byte) (int, error) { return unix.Lgetxattr(path, name, buf) }); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// grown calls read with larger and larger buffers until one suffices, and returns the bytes read.
func grown(read func(buf []byte) (int, error)) ([]byte, error) {
	for size := 256; ; size *= 4 {
		buf := make([]byte, size)
		n, err := read(buf)
		if errors.Is(err, unix.ERANGE) && size < 1<<20 {
			continue
		}
		return buf[:max(n, 0)], err
	}
}

// hasCapabilities reports whether the file grants capabilities to the program in it.
func hasCapabilities(path string) bool {
	n, err := unix.Lgetxattr(path, "security.capability", nil)
	return err == nil && n > 0
}

// Perm returns the permissions of an open file. If the file has an access list, the group's bits of its mode are the
// maximum rights of the list; a new file must not grant these to the group, so Perm returns the group's own rights
// instead.
func (f *File) Perm() os.FileMode {
	perm := f.Mode.Perm()
	local, ok := f.ReadCloser.(*os.File)
	if !ok || perm&0o070 == 0 {
		return perm
	}
	list, err := grown(func(buf []byte) (int, error) { return unix.Fgetxattr(int(local.Fd()), "system.posix_acl_access", buf) })
	if err != nil {
		return perm
	}
	// The format is that of acl(5) in include/uapi/linux/posix_acl_xattr.h: a version, then entries of a tag, rights
	// and an id.
	const head, entry, groupTag = 4, 8, 4
	for at := head; at+entry <= len(list); at += entry {
		if binary.LittleEndian.Uint16(list[at:]) == groupTag {
			group := os.FileMode(binary.LittleEndian.Uint16(list[at+2:])) & 7
			return perm&^0o070 | perm&(group<<3)
		}
	}
	return perm
}
