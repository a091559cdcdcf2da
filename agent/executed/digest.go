package executed

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
	"sync"
	"time"
)

// stamp is what changes of a file or folder whenever something in it does.
type stamp struct {
	inode        uint64
	size         int64
	mode         os.FileMode
	changed, mod int64 // nanoseconds
}

func (s stamp) String() string {
	return fmt.Sprint(s.inode, s.size, s.mode, s.changed, s.mod)
}

// settled reports whether a thing that was looked at a time ago, and has the stamp still, can't have
// changed since: its last change was long enough before.
func (s stamp) settled(at time.Time) bool {
	return at.UnixNano()-max(s.changed, s.mod) > int64(settles)
}

// digest returns what identifies the content of a file: of a symbolic link its target, too. Of what is
// no file and of a large one it is the stamp.
func digest(name string, info os.FileInfo) string {
	link := ""
	if info.Mode()&os.ModeSymlink != 0 {
		link, _ = os.Readlink(name)
		followed, err := os.Stat(name)
		if err != nil {
			return "link to " + link
		}
		info = followed
	}
	if !info.Mode().IsRegular() || info.Size() > maxDigest {
		return link + " " + stampOf(info).String()
	}
	return fmt.Sprintf("%s %o %x", link, info.Mode().Perm()&0o111, sha256.Sum256(readMost(name)))
}

// readMost returns the beginning of a file, as far as digests go; nil if it can't be read.
func readMost(name string) []byte {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() { // a pipe would wait
		return nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	text, _ := io.ReadAll(io.LimitReader(f, maxDigest))
	return text
}

// lastElements are names and patterns of names.
type lastElements struct {
	names map[string]bool
	globs []string
}

// last holds the last elements of all patterns: a file whose name matches none of them is in no row.
var last = sync.OnceValue(func() (l lastElements) {
	l.names = make(map[string]bool)
	for _, p := range patterns() {
		if name := p.elements[len(p.elements)-1]; strings.Contains(name, "*") {
			l.globs = append(l.globs, name)
		} else {
			l.names[name] = true
		}
	}
	return l
})

// mayList reports whether a file of that name, in a folder that is not listed, can be a listed one.
func mayList(name string) bool {
	name = fold(name)
	if last().names[name] {
		return true
	}
	for _, glob := range last().globs {
		begin, rest, _ := strings.Cut(glob, "*")
		if !strings.HasPrefix(name, begin) || !strings.HasSuffix(name, rest[strings.LastIndexByte(rest, '*')+1:]) {
			continue
		}
		if ok, _ := path.Match(glob, name); ok {
			return true
		}
	}
	return false
}
