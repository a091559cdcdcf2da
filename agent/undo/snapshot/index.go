package snapshot

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	files "buddy/tools/fs"
)

// stamp identifies a version of a file by its metadata, without its content.
type stamp struct {
	dev, ino     uint64
	size         int64
	mode         uint32
	mtime, ctime int64 // nanoseconds
}

func stampOf(st *unix.Stat_t) stamp {
	return stamp{uint64(st.Dev), st.Ino, st.Size, uint32(st.Mode), unix.TimespecToNsec(st.Mtim), unix.TimespecToNsec(st.Ctim)}
}

// entry is one path in an index, with its state.
type entry struct {
	path  string
	stamp stamp
	fresh bool // it changed just before the scan: a later change can have the same times, so the next scan reads it
	State
}

// magic is the start of an index, which is a file with the entries of a tree in the order of a walk. The file's
// modification time is the time of the last scan. An index is read and written as a stream, so a tree needs no memory
// between scans.
const magic = "buddy index 1\n"

// before reports whether a walk visits path a before path b. The content of a folder directly follows the folder.
func before[A, B string | []byte](a A, b B) bool {
	for i := 0; i < len(a) && i < len(b); i++ {
		if a[i] != b[i] {
			return a[i] == '/' || b[i] != '/' && a[i] < b[i]
		}
	}
	return len(a) < len(b)
}

// indexReader reads an index. The zero value reads an empty index.
type indexReader struct {
	f    *os.File
	in   *bufio.Reader
	when time.Time // of the scan
	one  record
	err  error
}

// record is an entry whose memory the next record reuses.
type record struct {
	path, link []byte
	stamp      stamp
	flags      byte
	perm       fs.FileMode
	sum        [32]byte
}

func (r *record) kind() Kind   { return kinds[r.flags&kindMask] }
func (r *record) fresh() bool  { return r.flags&freshFlag != 0 }
func (r *record) hasSum() bool { return r.flags&sumFlag != 0 }

func (r *record) entry() *entry {
	if r == nil {
		return nil
	}
	e := &entry{path: string(r.path), stamp: r.stamp, fresh: r.fresh(), State: State{Kind: r.kind(), Perm: r.perm}}
	switch e.Kind {
	case File:
		e.Size = r.stamp.size
		if r.hasSum() {
			e.Sum = hex.EncodeToString(r.sum[:])
		}
	case Link:
		e.Link = string(r.link)
	}
	return e
}

// openIndex opens an index. A missing file counts as an empty index.
func openIndex(path string) (*indexReader, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &indexReader{}, nil
	}
	if err != nil {
		return nil, err
	}
	r := &indexReader{f: f, in: bufio.NewReaderSize(f, 64<<10)}
	head := make([]byte, len(magic))
	if _, err := io.ReadFull(r.in, head); err != nil || string(head) != magic {
		r.close()
		return nil, fmt.Errorf("%q is not an index", path)
	}
	info, err := f.Stat()
	if err != nil {
		r.close()
		return nil, err
	}
	r.when = info.ModTime()
	return r, nil
}

func (r *indexReader) close() {
	if r.f != nil {
		files.Release(r.f)
	}
}

// next returns the next record, or nil at the end and after an error, which is then in r.err.
func (r *indexReader) next() *record {
	if r.in == nil || r.err != nil {
		return nil
	}
	if _, err := r.in.Peek(1); errors.Is(err, io.EOF) {
		return nil
	}
	one := &r.one
	one.path = r.text(one.path)
	one.flags, one.perm = byte(r.number()), fs.FileMode(r.number())
	one.stamp = stamp{r.number(), r.number(), int64(r.number()), uint32(r.number()), int64(r.number()), int64(r.number())}
	if one.hasSum() {
		r.read(one.sum[:])
	}
	if one.kind() == Link {
		one.link = r.text(one.link)
	}
	if r.err != nil {
		return nil
	}
	return one
}

func (r *indexReader) number() uint64 {
	n, err := binary.ReadUvarint(r.in)
	r.fail(err)
	return n
}

// text reads a text into buf, which it enlarges if necessary.
func (r *indexReader) text(buf []byte) []byte {
	n := r.number()
	if n > maxText {
		r.fail(errors.New("a path is too long"))
		n = 0
	}
	buf = slices.Grow(buf[:0], int(n))[:n]
	r.read(buf)
	return buf
}

func (r *indexReader) read(into []byte) {
	_, err := io.ReadFull(r.in, into)
	r.fail(err)
}

func (r *indexReader) fail(err error) {
	if err != nil && r.err == nil {
		r.err = fmt.Errorf("%q is damaged: %w", r.f.Name(), err)
	}
}

// maxText is longer than any path or link target, in bytes.
const maxText = 1 << 20

// Flags of an entry. The lowest bits hold its kind.
const (
	kindMask  = 3
	sumFlag   = 4
	freshFlag = 8
)

var kinds = [4]Kind{None, File, Folder, Link}

// indexWriter writes an index to a temporary file, which finally replaces the old index.
type indexWriter struct {
	path string
	f    *os.File
	out  *bufio.Writer
	buf  []byte
}

func createIndex(path string) (*indexWriter, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".index-")
	if err != nil {
		return nil, err
	}
	w := &indexWriter{path: path, f: f, out: bufio.NewWriterSize(f, 64<<10)}
	w.buf = []byte(magic)
	return w, w.flush()
}

func (w *indexWriter) flush() error {
	_, err := w.out.Write(w.buf)
	w.buf = w.buf[:0]
	return err
}

func (w *indexWriter) add(e *entry) error {
	one := record{path: []byte(e.path), link: []byte(e.Link), stamp: e.stamp, flags: byte(slices.Index(kinds[:], e.Kind)), perm: e.Perm}
	if e.Sum != "" {
		if n, err := hex.Decode(one.sum[:], []byte(e.Sum)); err != nil || n != len(one.sum) {
			return fmt.Errorf("sum %q: %w", e.Sum, err)
		}
		one.flags |= sumFlag
	}
	if e.fresh {
		one.flags |= freshFlag
	}
	return w.copy(&one)
}

func (w *indexWriter) copy(r *record) error {
	b := binary.AppendUvarint(w.buf, uint64(len(r.path)))
	b = append(b, r.path...)
	for _, n := range []uint64{
		uint64(r.flags), uint64(r.perm), r.stamp.dev, r.stamp.ino, uint64(r.stamp.size), uint64(r.stamp.mode), uint64(r.stamp.mtime), uint64(r.stamp.ctime),
	} {
		b = binary.AppendUvarint(b, n)
	}
	if r.hasSum() {
		b = append(b, r.sum[:]...)
	}
	if r.kind() == Link {
		b = binary.AppendUvarint(b, uint64(len(r.link)))
		b = append(b, r.link...)
	}
	w.buf = b
	return w.flush()
}

// end puts the new index in place, or removes the temporary file if err is not nil.
func (w *indexWriter) end(err error) error {
	err = errors.Join(err, w.out.Flush(), w.f.Close())
	if err == nil {
		err = os.Rename(w.f.Name(), w.path)
	}
	if err != nil {
		_ = os.Remove(w.f.Name())
	}
	return err
}
