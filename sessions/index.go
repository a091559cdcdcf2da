package sessions

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"buddy/agent/event"
)

// indexed holds what is known about a file, a session or not.
type indexed struct {
	Entry
	valid   bool  // it holds a session with at least one event
	named   bool  // a person set Title
	scanned int64 // bytes searched for such a title
	fresh   bool  // these facts are up to date
	gone    bool
}

// indexHead is the first line; any other means another format.
const indexHead = "buddy index 2"

const indexFields = 13

func (s Store) indexPath() string { return filepath.Join(s.dir, ".index") }

// readIndex returns the lines of the index, which caches the facts of the last list; "" if none can be used. A line
// counts only while its file has the same size and time.
func (s Store) readIndex() string {
	data, err := readSmall(s.indexPath())
	if err != nil {
		return ""
	}
	head, lines, _ := strings.Cut(string(data), "\n")
	if head != indexHead {
		return ""
	}
	return lines
}

// parseIndex parses a line of the index into each element. One whose line is not valid is marked as gone.
func parseIndex(all []indexed, lines string) {
	for i := range all {
		line, rest, _ := strings.Cut(lines, "\n")
		var ok bool
		all[i], ok = parseIndexed(line)
		all[i].gone = !ok
		lines = rest
	}
}

// parseIndexed parses a line of the index.
func parseIndexed(line string) (e indexed, ok bool) {
	var fields [indexFields]string
	for i := range fields {
		var more bool
		fields[i], line, more = strings.Cut(line, "\t")
		if more != (i < indexFields-1) {
			return indexed{}, false
		}
	}
	var numbers [4]int64
	for i := range numbers {
		n, err := strconv.ParseInt(fields[i+1], 10, 64)
		if err != nil {
			return indexed{}, false
		}
		numbers[i] = n
	}
	text := fields[6:]
	for i := range text {
		if strings.HasPrefix(text[i], `"`) {
			var err error
			if text[i], err = strconv.Unquote(text[i]); err != nil {
				return indexed{}, false
			}
		}
	}
	e = indexed{Entry: Entry{ID: fields[0], Size: numbers[0], Used: time.Unix(0, numbers[1])}, scanned: numbers[2], fresh: true}
	e.valid, e.named = strings.Contains(fields[5], "v"), strings.Contains(fields[5], "n")
	e.Header = Header{Format: formatPlain, Created: numbers[3], ID: text[0], Cwd: text[1], Target: text[2], Model: text[3], ForkedFrom: text[4], By: text[5]}
	e.Title = text[6]
	return e, CheckID(e.ID) == nil
}

// appendIndexed is the inverse of parseIndexed.
func appendIndexed(line []byte, e *indexed) []byte {
	line = append(line, e.ID...)
	for _, n := range []int64{e.Size, e.Used.UnixNano(), e.scanned, e.Header.Created} {
		line = strconv.AppendInt(append(line, '\t'), n, 10)
	}
	line = append(line, '\t')
	if e.valid {
		line = append(line, 'v')
	}
	if e.named {
		line = append(line, 'n')
	}
	for _, text := range []string{e.Header.ID, e.Header.Cwd, e.Header.Target, e.Header.Model, e.Header.ForkedFrom, e.Header.By, e.Title} {
		line = append(line, '\t')
		if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' }) || strings.HasPrefix(text, `"`) {
			line = strconv.AppendQuote(line, text)
		} else {
			line = append(line, text...)
		}
	}
	return append(line, '\n')
}

// saveIndex writes the index for the next list. Errors are ignored and the file is not synced:
// it is a cache.
func (s Store) saveIndex(all []indexed) {
	text := []byte(indexHead + "\n")
	recent := time.Now().Add(-time.Second)
	for i := range all {
		if all[i].Used.Before(recent) { // a recent file may change again within the clock's resolution
			text = appendIndexed(text, &all[i])
		}
	}
	f, err := os.CreateTemp(s.dir, ".index-*") // mode 0600
	if err != nil {
		return
	}
	_, err = f.Write(text)
	if f.Close() != nil || err != nil || os.Rename(f.Name(), s.indexPath()) != nil {
		os.Remove(f.Name()) //nolint:errcheck // a stale file does no harm
	}
}

// describer reads the facts of files. Its buffer is reused.
type describer struct {
	store Store
	buf   []byte
	n     int // bytes of the file's beginning in buf
	raw   rawScanner
}

const (
	describeSize = 16 << 10 // bytes of a file that are read first
	titleBytes   = 4 << 20  // bytes searched for the first prompt
)

func newDescriber(s Store) *describer { return &describer{store: s, buf: make([]byte, describeSize)} }

// fd is an open file: a list has thousands, for which an os.File costs too much. It was
// checked to be a plain file; ReadAt fails on most others.
type fd int

func (f fd) ReadAt(p []byte, off int64) (int, error) {
	n, err := unix.Pread(int(f), p, off)
	if n < len(p) && err == nil {
		err = io.EOF
	}
	return max(n, 0), err
}

// describe fills in the facts from the file's contents. A session has a header and at least
// one more line.
func (d *describer) describe(e *indexed) {
	e.fresh = true
	f, err := unix.Open(d.store.file(e.ID), unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		e.valid = false
		return
	}
	defer unix.Close(f) //nolint:errcheck // only read
	var title string
	if e.Header, title, e.valid = d.beginning(fd(f)); !e.valid {
		e.named, e.Title, e.scanned = false, "", 0
		return
	}
	name, end, ok := d.lastName(fd(f), e.scanned, e.Size)
	switch {
	case ok:
		e.Title, e.named = name, name != ""
	case e.scanned == 0: // another file than before
		e.named = false
	}
	e.scanned = end
	if !e.named {
		e.Title = title
	}
}

// beginning reads the header and the first prompt.
func (d *describer) beginning(f fd) (h Header, title string, ok bool) {
	for size := describeSize; ; size = titleBytes {
		if len(d.buf) < size {
			d.buf = make([]byte, size)
		}
		d.n, _ = f.ReadAt(d.buf[:size], 0) // the header shows whether it was enough
		first, rest, found := bytes.Cut(d.buf[:d.n], []byte{'\n'})
		var err error
		if h, err = parseHeader(first); !found || err != nil {
			return h, "", false
		}
		h.MAC = ""
		text, found, lines := firstPrompt(rest)
		if found || d.n < size || size == titleBytes {
			return h, shorten(text), lines > 0
		}
	}
}

// firstPrompt returns the text of the first prompt in whole lines, and their number.
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

// promptText returns the text of a line that holds a prompt.
func promptText(line []byte) (string, bool) {
	if !bytes.Contains(line[:min(len(line), 512)], promptType) {
		return "", false
	}
	env, err := event.Decode(line)
	p, ok := env.Payload.(event.PromptSubmitted)
	return p.Text, ok && err == nil
}

// findType returns where a key with a type is in a text, -1 if it is nowhere. It searches for the dot of the type and
// what follows it: there are few dots, while the quote that the key begins with is everywhere.
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
	promptType = []byte(`"type":"` + event.PromptSubmitted{}.Type() + `"`)
	nameType   = []byte(`"type":"` + event.SessionRenamed{}.Type() + `"`)
)

// lastName returns the last title that a person set between two offsets, and the end of the
// searched part.
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
		end = from // an unreadable part has no title
	}
	return title, end, ok
}
