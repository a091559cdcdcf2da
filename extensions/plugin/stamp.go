package plugin

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// settled is the age that the newest change must have so that a stamp detects every later change: clocks of file
// systems are coarse.
const settled = 2 * time.Second

// Stamp returns a cheap fingerprint of a plugin's files: their names, sizes, modes, inodes and times, including the
// change time of inodes, which no program can set. sure is false while the newest change is so recent that another
// one could have the same time.
func Stamp(dir string) (stamp string, sure bool, err error) {
	var all []byte
	before, newest := time.Now().Add(-settled), time.Time{}
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && e.Name() == ".git" && filepath.Dir(path) == filepath.Clean(dir) {
			return filepath.SkipDir // as in the hash
		}
		var st unix.Stat_t
		if err := unix.Lstat(path, &st); err != nil {
			return fmt.Errorf("%q: %w", path, err)
		}
		changed := time.Unix(st.Ctim.Unix())
		if changed.After(newest) {
			newest = changed
		}
		all = append(append(all, path...), 0)
		for _, n := range [...]uint64{uint64(st.Dev), st.Ino, uint64(st.Mode), uint64(st.Size), uint64(st.Mtim.Nano()), uint64(changed.UnixNano())} { //nolint:unconvert // types differ between systems
			all = binary.LittleEndian.AppendUint64(all, n)
		}
		return nil
	})
	sum := sha256.Sum256(all)
	return hex.EncodeToString(sum[:]), newest.Before(before), err
}
