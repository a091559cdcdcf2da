package review

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"buddy/agent/event"
	"buddy/texts"
	"buddy/tools/fs"
)

// Place completes a finding: it makes the file's path relative to dir and adds checksums, with which Locate finds the
// line later. If the file or line can't be confirmed, it adds a note that says why. since is when the reviewer started
// to read; zero if unknown.
func Place(ctx context.Context, files fs.FS, dir string, since time.Time, f event.Finding) event.Finding {
	if f.File == "" {
		return f
	}
	name := f.File
	if rel, err := filepath.Rel(dir, name); path.IsAbs(name) && err == nil && filepath.IsLocal(rel) {
		name = rel
	}
	for _, try := range []string{name, strings.TrimPrefix(name, "a/"), strings.TrimPrefix(name, "b/")} {
		if !filepath.IsLocal(try) {
			f.Note = "the file is outside this folder"
			return f
		}
		at, err := read(ctx, files, dir, try)
		switch {
		case err == nil:
			f.File = try
			return at.seen(since, f)
		case !errors.Is(err, errNoFile):
			f.Note = texts.OneLine(err.Error())
			return f
		}
	}
	f.Note = errNoFile.Error()
	return f
}

// Spot is the present place of a finding.
type Spot struct {
	Path string // of the file, absolute, without links; "": nothing to open
	Line int    // from 1; 0: the finding has none, or Why explains why it is unknown
	Why  string // difference from the review, for people; "": none
}

// Locate finds the place of a finding of an earlier review of dir. If the file has changed, it returns a line only if
// the line and its neighbours are in the file exactly once.
func Locate(ctx context.Context, files fs.FS, dir string, f event.Finding) Spot {
	switch {
	case f.File == "":
		return Spot{Why: "the finding names no file"}
	case !filepath.IsLocal(f.File):
		return Spot{Why: f.File + " is outside this folder"}
	}
	now, err := read(ctx, files, dir, f.File)
	if err != nil {
		return Spot{Why: f.File + ": " + texts.OneLine(err.Error())}
	}
	s := Spot{Path: now.path, Line: f.Line}
	switch moved := now.find(f.LineSum); {
	case f.Line == 0 || f.FileSum == now.sum():
	case f.FileSum == "":
		s.Line, s.Why = 0, fmt.Sprintf("line %d of %s is not certain: %s", f.Line, f.File, cmp.Or(f.Note, "the review did not record the file's state"))
	case moved == 0:
		s.Line, s.Why = 0, fmt.Sprintf("%s has changed since the review, and line %d can't be found any more", f.File, f.Line)
	case moved != f.Line:
		s.Line, s.Why = moved, fmt.Sprintf("%s has changed since the review: line %d is line %d now", f.File, f.Line, moved)
	}
	return s
}

// content is a file that was read.
type content struct {
	path  string
	info  fs.Info
	data  []byte
	lines [][]byte
}

// read reads a file below a folder.
func read(ctx context.Context, files fs.FS, dir, name string) (c content, err error) {
	top, err := files.RealPath(ctx, dir)
	if err != nil {
		return c, err
	}
	if c.path, err = files.RealPath(ctx, filepath.Join(top, name)); err != nil {
		return c, unread(err)
	}
	if !texts.Below(c.path, top) {
		return c, errors.New("a link leads to a file outside this folder")
	}
	f, err := files.Open(ctx, c.path)
	if err != nil {
		return c, unread(err)
	}
	defer fs.Release(f)
	if c.data, err = fs.ReadInto(nil, f, min(f.Size, fs.MaxText)); err != nil {
		return c, err
	}
	if len(c.data) > fs.MaxText {
		return c, fmt.Errorf("the file is larger than %d MB", fs.MaxText>>20)
	}
	c.info, c.lines = f.Info, bytes.Split(bytes.TrimSuffix(c.data, []byte("\n")), []byte("\n"))
	return c, nil
}

var errNoFile = errors.New("there is no such file")

// unread describes why a file can't be read, without its path.
func unread(err error) error {
	for _, known := range []error{os.ErrPermission, syscall.ENOTDIR} {
		if errors.Is(err, known) {
			err = known
		}
	}
	if errors.Is(err, os.ErrNotExist) {
		return errNoFile
	}
	return fmt.Errorf("the file can't be read: %w", fs.Cause(err))
}

// seen returns the finding with checksums of its file and line.
func (c content) seen(since time.Time, f event.Finding) event.Finding {
	switch {
	case f.Line > len(c.lines):
		f.Note = fmt.Sprintf("the file has %d lines", len(c.lines))
	case !since.IsZero() && c.info.Modified.After(since):
		f.Note = "the file changed during the review"
	case f.Line > 0:
		f.FileSum, f.LineSum = c.sum(), c.around(f.Line)
	}
	return f
}

// sum returns a checksum of the content.
func (c content) sum() string { return sumOf(c.data) }

// around returns a checksum of a line and its neighbours.
func (c content) around(line int) string {
	return sumOf(bytes.Join(c.lines[max(0, line-2):min(len(c.lines), line+1)], []byte("\n")))
}

// find returns the only line with a checksum; 0 if there is none, or more than one.
func (c content) find(sum string) (found int) {
	for line := 1; line <= len(c.lines) && sum != ""; line++ {
		if c.around(line) != sum {
			continue
		}
		if found != 0 {
			return 0
		}
		found = line
	}
	return found
}

// sumOf returns a checksum that is long enough to exclude collisions by chance.
func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:12])
}
