package sessions

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"buddy/agent/event"
)

// indexHead is the first line of the file, which names its format.
const indexHead = "buddy index 3\n"

func (s Store) indexPath() string { return filepath.Join(s.dir, ".index") }

// readIndex returns the records of the index, which caches the entries of the last list. A record is valid only while
// its file has the same size and time.
func (s Store) readIndex() []indexed {
	text, err := readSmall(s.indexPath())
	if err != nil {
		return nil
	}
	text, ok := strings.CutPrefix(text, indexHead)
	if !ok {
		return nil
	}
	all := make([]indexed, 0, len(text)/64) // most are longer
	for rest := (indexed{text: text}); rest.text != ""; {
		r := indexed{text: rest.string()}
		if rest.wrong {
			break // the file was not written completely
		}
		all = append(all, r)
	}
	return all
}

// parse sets e from a record, and marks it as gone if the record is invalid.
func (e *Entry) parse(r indexed) {
	e.ID = r.string()
	e.Size, e.Used = r.number(), time.Unix(0, r.number())
	e.scanned, e.Header.Created = r.number(), r.number()
	flags := r.number()
	e.valid, e.named = flags&isValid != 0, flags&isNamed != 0
	h := &e.Header
	h.Format = formatPlain
	h.ID, h.Cwd, h.Target, h.Model, h.ForkedFrom, h.By = r.string(), r.string(), r.string(), r.string(), r.string(), r.string()
	e.Title = r.string()
	e.fresh, e.gone = true, r.wrong || r.text != "" || CheckID(e.ID) != nil
}

const (
	isValid = 1 << iota
	isNamed
)

// appendRecord appends the record of e, after its length.
func appendRecord(index []byte, e *Entry) []byte {
	r := appendText(make([]byte, 0, 512), e.ID)
	flags := int64(0)
	if e.valid {
		flags |= isValid
	}
	if e.named {
		flags |= isNamed
	}
	for _, n := range []int64{e.Size, e.Used.UnixNano(), e.scanned, e.Header.Created, flags} {
		r = binary.AppendVarint(r, n)
	}
	for _, text := range []string{e.Header.ID, e.Header.Cwd, e.Header.Target, e.Header.Model, e.Header.ForkedFrom, e.Header.By, e.Title} {
		r = appendText(r, text)
	}
	return append(binary.AppendVarint(index, int64(len(r))), r...)
}

// appendText appends a text after its length.
func appendText(r []byte, text string) []byte {
	return append(binary.AppendVarint(r, int64(len(text))), text...)
}

// indexed is the rest of a session's record in the index, not yet decoded: numbers in the encoding of [binary.PutVarint], and
// texts after their lengths.
type indexed struct {
	text  string
	wrong bool // the record is too short
}

// number removes the next number from the record and returns it, as [binary.Varint] does for bytes.
func (r *indexed) number() int64 {
	var n uint64
	for i := range min(len(r.text), binary.MaxVarintLen64) {
		b := r.text[i]
		n |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			r.text = r.text[i+1:]
			return int64(n>>1) ^ -int64(n&1)
		}
	}
	r.text, r.wrong = "", true
	return 0
}

func (r *indexed) string() string {
	n := r.number()
	if n < 0 || n > int64(len(r.text)) {
		r.text, r.wrong = "", true
		return ""
	}
	text := r.text[:n]
	r.text = r.text[n:]
	return text
}

// saveIndex writes the index for the next list. It ignores errors and does not sync the file, which is a cache.
func (s Store) saveIndex(all []Entry) {
	index := []byte(indexHead)
	recent := time.Now().Add(-time.Second)
	for i := range all {
		if all[i].Used.Before(recent) { // a recent file may change again within the clock's resolution
			index = appendRecord(index, &all[i])
		}
	}
	f, err := os.CreateTemp(s.dir, ".index-*") // mode 0600
	if err != nil {
		return
	}
	_, err = f.Write(index)
	if f.Close() != nil || err != nil || os.Rename(f.Name(), s.indexPath()) != nil {
		os.Remove(f.Name()) //nolint:errcheck // a stale file does no harm
	}
}

// describer reads the facts about files. It reuses its buffer.
type describer struct {
	store Store
	dir   int // its folder
	buf   []byte
	n     int // bytes at the start of buf that are the file's beginning
	raw   rawScanner
}

const (
	describeSize = 16 << 10 // bytes of a file that are read first
	titleBytes   = 4 << 20  // bytes searched for the first prompt
)

// newDescriber returns a describer for the files of a folder, which stays open.
func newDescriber(s Store, dir *os.File) *describer {
	return &describer{store: s, dir: int(dir.Fd()), buf: make([]byte, describeSize)}
}

// fd is an open file: listing sessions opens thousands of files, for which an os.File costs too much. The file must be
// a regular one; ReadAt fails on most others.
type fd int

func (f fd) ReadAt(p []byte, off int64) (int, error) {
	n, err := unix.Pread(int(f), p, off)
	if n < len(p) && err == nil {
		err = io.EOF
	}
	return max(n, 0), err
}

// describe sets the facts from the file's contents. A session has a header and at least one more line.
func (d *describer) describe(e *Entry) {
	e.fresh, e.valid = true, false
	f, err := unix.Openat(d.dir, e.ID+ext, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		d.unreadable(e, err)
		return
	}
	defer unix.Close(f) //nolint:errcheck // only read
	var title string
	first := describeSize
	if e.scanned == 0 && e.Size < rawBlock { // all of it is read at once
		first = rawBlock
	}
	if e.Header, title, e.valid, err = d.beginning(fd(f), first); !e.valid {
		e.named, e.Title, e.scanned = false, title, 0
		d.unreadable(e, err)
		return
	}
	name, end, ok := d.lastName(fd(f), e.scanned, e.Size)
	switch {
	case ok:
		e.Title, e.named = name, name != ""
	case e.scanned == 0: // a different file than before
		e.named = false
	}
	e.scanned = end
	if !e.named {
		e.Title = title
	}
}

// unreadable records why a session can't be opened. A file that another process is removing or creating has no problem.
func (d *describer) unreadable(e *Entry, err error) {
	switch {
	case err == nil, errors.Is(err, fs.ErrNotExist):
		return
	case errors.Is(err, errEmpty):
		if begins, _ := Owned(d.store, e.ID); begins {
			return
		}
	case !errors.Is(err, ErrHeader) && !errors.Is(err, ErrFormat):
		err = fmt.Errorf("it can't be read: %w", err)
	}
	e.Problem = repairFirst(e.ID, err).Error()
}

// beginning reads the header and the first prompt. It reads size bytes first, and more if necessary. A valid session
// has more than a header.
func (d *describer) beginning(f fd, size int) (h Header, title string, valid bool, err error) {
	for ; ; size = titleBytes {
		if len(d.buf) < size {
			d.buf = make([]byte, size)
		}
		if d.n, err = f.ReadAt(d.buf[:size], 0); d.n == 0 && !errors.Is(err, io.EOF) {
			return h, "", false, err
		}
		h, rest, err := splitHeader(d.buf[:d.n])
		h.MAC = ""
		text, found, lines := firstPrompt(rest)
		if !found && d.n == titleBytes {
			text = promptStart(d.buf[bytes.LastIndexByte(d.buf[:d.n], '\n')+1 : d.n])
		}
		if found || d.n < size || size == titleBytes {
			return h, shorten(text), lines > 0 && err == nil, err
		}
	}
}

// firstPrompt returns the text of the first prompt in complete lines, and the number of lines.
func firstPrompt(text []byte) (prompt string, found bool, lines int) {
	for {
		line, rest, whole := bytes.Cut(text, []byte{'\n'})
		if !whole {
			return "", false, lines
		}
		lines++
		if prompt, ok := promptText(line); ok {
			return prompt, true, lines
		}
		text = rest
	}
}

// promptText returns the text of a line with a prompt.
func promptText(line []byte) (string, bool) {
	if !bytes.Contains(line[:min(len(line), 512)], promptType) {
		return "", false
	}
	env, err := event.Decode(line)
	p, ok := env.Payload.(event.PromptSubmitted)
	return p.Text, ok && err == nil
}

// promptStart returns the start of a prompt, enough for a title, from the beginning of a line that is too long to be
// read; "" if the line has no prompt.
func promptStart(line []byte) string {
	line = line[:min(len(line), 2*512+6*8*titleRunes)] // a byte of the text takes up to six
	if !bytes.Contains(line[:min(len(line), 512)], promptType) {
		return ""
	}
	_, text, _ := bytes.Cut(line, []byte(`"text":`))
	for n := len(text); n > max(0, len(text)-len(`\u0000`)); n-- { // it may end inside an escape
		var prompt string
		if json.NewDecoder(io.MultiReader(bytes.NewReader(text[:n]), strings.NewReader(`"`))).Decode(&prompt) == nil {
			return prompt
		}
	}
	return ""
}

// findType returns the offset of a key with a type in a text, or -1. It searches for the part of the key from the dot
// of the type on, because dots are rare, while the quote at the start of the key is frequent.
func findType(text, key []byte) int {
	dot := bytes.IndexByte(key, '.')
	for off := dot; off < len(text); off++ {
		i := bytes.Index(text[off:], key[dot:])
		if i < 0 {
			return -1
		}
		if off += i; bytes.Equal(text[off-dot:off], key[:dot]) {
			return off - dot
		}
	}
	return -1
}

var (
	promptType = []byte(`"type":"` + event.Type(event.PromptSubmitted{}) + `"`)
	nameType   = []byte(`"type":"` + event.Type(event.SessionRenamed{}) + `"`)
)

// lastName returns the last title set by a person between two offsets, and the end of the searched part.
func (d *describer) lastName(f fd, from, to int64) (title string, end int64, ok bool) {
	find := func(text []byte) int { return findType(text, nameType) }
	named := func(line []byte) bool {
		if env, err := event.Decode(line); err == nil {
			if p, is := env.Payload.(event.SessionRenamed); is {
				title, ok = shorten(p.Title), true
			}
		}
		return true
	}
	if text := d.buf[:d.n]; int64(len(text)) == to { // all of it is in buf
		end := int64(bytes.LastIndexByte(text, '\n') + 1)
		matches(text[:end], find, named)
		return title, end, ok
	}
	end, err := d.raw.lines(f, from, to, find, named)
	if err != nil {
		end = from // no title in an unreadable part
	}
	return title, end, ok
}
