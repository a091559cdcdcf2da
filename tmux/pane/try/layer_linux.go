//go:build amd64 || arm64

package try

import (
	"bytes"
	"crypto/sha1" //nolint:gosec // git's checksum
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"buddy/texts"
	"buddy/tmux/pane/try/enter"
)

// Files and folders of a layer, besides its parts.
const (
	indexCopy = "index" // git's index of the workspace before the command
	markFile  = "mark"
	oldDir    = "old"     // deleted files of a kept layer
	stateFile = "keeping" // while it is kept
	keptFile  = "kept"    // afterwards
)

// part returns the folder of the overlay with a number.
func part(layer string, n int) string { return filepath.Join(layer, strconv.Itoa(n)) }

// suits returns an error that is [ErrImpossible] if the workspace and the folder of layers can't be used.
func suits(c Config) error {
	no := func(format string, args ...any) error {
		return fmt.Errorf("%w: %w", ErrImpossible, fmt.Errorf(format, args...))
	}
	if len(c.Fence.Work) == 0 {
		return no("there is no workspace")
	}
	work, err := filepath.EvalSymlinks(c.Fence.Work[0])
	if err != nil {
		return no("%w", err)
	}
	layers, err := filepath.EvalSymlinks(c.Layers)
	if err != nil {
		return no("%w", err)
	}
	if texts.Below(layers, work) {
		return no("the folder for changes, %q, is in the workspace %q", layers, work)
	}
	var at [2]unix.Statx_t
	for i, dir := range []string{work, layers} {
		if err := unix.Statx(unix.AT_FDCWD, dir, 0, unix.STATX_MNT_ID, &at[i]); err != nil {
			return no("%q: %w", dir, err)
		}
		var system unix.Statfs_t
		if err := unix.Statfs(dir, &system); err != nil {
			return no("%q: %w", dir, err)
		}
		if system.Type == unix.OVERLAYFS_SUPER_MAGIC {
			return no("%q is on an overlay file system, as in containers, and Linux can't put another overlay on it", dir)
		}
	}
	if at[0].Dev_major != at[1].Dev_major || at[0].Dev_minor != at[1].Dev_minor || at[0].Mnt_id != at[1].Mnt_id {
		return no("the workspace %q and the folder for changes %q are on different file systems or mounts, and files can't be exchanged between them", work, layers)
	}
	point, err := mountedIn(work)
	switch {
	case err != nil:
		return no("%w", err)
	case point != "":
		return no("another file system is mounted in the workspace, on %q", point)
	}
	return nil
}

// mountedIn returns a path below a folder on which another file system is mounted, "" if there is none.
func mountedIn(dir string) (string, error) {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	for line := range strings.Lines(string(mounts)) {
		if f := strings.Fields(line); len(f) > 4 {
			if point := unescape(f[4]); point != dir && texts.Below(point, dir) {
				return point, nil
			}
		}
	}
	return "", err
}

// unescape returns a path of mountinfo, where spaces and other characters are octal numbers.
func unescape(path string) string {
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		if path[i] == '\\' && i+3 < len(path) {
			if n, err := strconv.ParseUint(path[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(path[i])
	}
	return b.String()
}

func newLayer(layers string) (string, error) {
	layers, err := filepath.EvalSymlinks(layers)
	if err != nil {
		return "", err
	}
	layer, err := os.MkdirTemp(layers, "try-")
	if err != nil {
		return "", err
	}
	if err := unix.Setxattr(layer, xattrPrefix+"none", nil, 0); err != nil {
		return "", errors.Join(fmt.Errorf("%w: the file system of %q can't store the attributes that an overlay needs: %w", ErrImpossible, layer, err), os.Remove(layer))
	}
	return layer, os.Mkdir(filepath.Join(layer, oldDir), 0o700)
}

// makeOverlay creates the folders of an overlay. The upper one gets the mode and owner of o.Folder, because commands
// see those of the upper folder.
func makeOverlay(o enter.Overlay) error {
	var st unix.Stat_t
	if err := unix.Stat(o.Folder, &st); err != nil {
		return fmt.Errorf("%q: %w", o.Folder, err)
	}
	upper := filepath.Join(o.Layer, enter.Upper)
	for _, dir := range []string{o.Layer, upper, filepath.Join(o.Layer, enter.Work)} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
	}
	if os.Getuid() == 0 {
		if err := os.Chown(upper, int(st.Uid), int(st.Gid)); err != nil {
			return err
		}
	}
	return unix.Chmod(upper, st.Mode&0o7777)
}

// newMark returns a time of the layer's file system, in nanoseconds, that separates earlier changes from later ones: a
// later change has this time or a later one.
func newMark(layer string) (int64, error) {
	name := filepath.Join(layer, markFile)
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		return 0, err
	}
	first, err := lstat(name)
	if err != nil {
		return 0, err
	}
	for {
		if err := os.Chmod(name, 0o600); err != nil {
			return 0, err
		}
		now, err := lstat(name)
		if err != nil || now.ctime > first.ctime {
			return now.ctime, err
		}
		time.Sleep(time.Millisecond) // older kernels have a clock of 1 to 10 ms
	}
}

// size returns the bytes and the number of changed files in the layer. It stops counting once a limit is exceeded.
func size(layer string, most Limits) (bytes int64, paths int) {
	_ = filepath.WalkDir(layer, func(path string, _ fs.DirEntry, err error) error {
		var st unix.Stat_t
		if err != nil || unix.Lstat(path, &st) != nil {
			return nil //nolint:nilerr // a command moves files, and locks folders
		}
		bytes += st.Blocks * 512
		paths++
		if bytes > most.Bytes || paths > most.Paths+layerPaths {
			return fs.SkipAll
		}
		return nil
	})
	return bytes, max(0, paths-layerPaths)
}

// layerPaths is an upper bound of the number of files in an unused layer, which do not count as changed.
const layerPaths = 40

// Discard removes a layer. It does nothing if the layer is gone. A layer that is being kept is not removed: call
// [Resume] first.
func Discard(layer string) error {
	if _, err := os.Lstat(filepath.Join(layer, stateFile)); err == nil {
		return fmt.Errorf("only a part of the changes in %q was kept; keep the rest first", layer)
	}
	err := os.RemoveAll(layer)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	// Make all folders accessible: overlays and commands leave some of mode 000.
	_ = filepath.WalkDir(layer, func(path string, e fs.DirEntry, _ error) error {
		if e != nil && e.IsDir() {
			return os.Chmod(path, 0o700) //nolint:gosec // of a private folder
		}
		return nil
	})
	return os.RemoveAll(layer)
}

// Discard removes the layer of the result.
func (r *Result) Discard() error { return Discard(r.Layer) }

// gitIndex is the path of git's index in the workspace.
const gitIndex = ".git/index"

// saveIndex copies git's index of the workspace to the layer, if it has one.
func saveIndex(work, layer string) error {
	text, err := os.ReadFile(filepath.Join(work, gitIndex))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) {
		return nil
	}
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(layer, indexCopy), text, 0o600)
}

// sameIndex reports whether two git indexes have the same entries: "git status" may rewrite an index, but changes only
// times in it.
func sameIndex(a, b string) bool {
	one, err1 := os.ReadFile(a)
	two, err2 := os.ReadFile(b)
	if err1 != nil || err2 != nil {
		return false
	}
	if bytes.Equal(one, two) {
		return true
	}
	entries, ok1 := indexEntries(one)
	others, ok2 := indexEntries(two)
	return ok1 && ok2 && slices.Equal(entries, others)
}

// indexEntries returns the entries of an index of version 2 or 3 without the times and numbers of files, see
// gitformat-index(5). ok is false for other indexes, such as split ones and those with SHA-256.
func indexEntries(index []byte) (entries []string, ok bool) {
	const (
		header, stat, fixed = 12, 40, 62 // the times and numbers end at 24, the mode at 28, the size at 40
		extended            = 0x4000
	)
	if len(index) < header+sha1.Size || string(index[:4]) != "DIRC" {
		return nil, false
	}
	body, sum := index[:len(index)-sha1.Size], sha1.Sum(index[:len(index)-sha1.Size]) //nolint:gosec // git's checksum
	version, count := binary.BigEndian.Uint32(body[4:]), binary.BigEndian.Uint32(body[8:])
	if !bytes.Equal(sum[:], index[len(body):]) || version < 2 || version > 3 {
		return nil, false
	}
	rest := body[header:]
	for range count {
		if len(rest) < fixed {
			return nil, false
		}
		start := fixed
		flags := binary.BigEndian.Uint16(rest[fixed-2:])
		if flags&extended != 0 {
			start += 2
		}
		end := bytes.IndexByte(rest[min(start, len(rest)):], 0)
		if end < 0 {
			return nil, false
		}
		end += start
		next := end + 8 - end%8
		if next > len(rest) {
			return nil, false
		}
		entries = append(entries, string(rest[24:28])+string(rest[stat:end]))
		rest = rest[next:]
	}
	return entries, !bytes.HasPrefix(rest, []byte("link"))
}
