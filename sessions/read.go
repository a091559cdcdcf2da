package sessions

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"

	"buddy/agent/event"
)

const (
	// maxSeq is the largest number that every JSON reader represents exactly.
	maxSeq    = 1 << 53
	tailBytes = 1 << 20
)

// Part holds consecutive envelopes of a session.
type Part struct {
	Events   []event.Envelope
	Warnings []string // one for each skipped line
	First    bool     // it starts at the beginning of the session
	from     int64    // offset of the first line
}

// Open opens a session for writing. If the session can't be written, Open opens it for reading, and ReadOnly returns
// the reason. Open reads only the first and the last line. It removes a last line that a crash or power loss cut off,
// and reports that in Info.
func (s Store) Open(id string) (*Journal, error) {
	f, err := s.openFile(id, os.O_RDWR|os.O_APPEND)
	readOnly := errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
	cause := err
	if readOnly {
		f, err = s.openFile(id, os.O_RDONLY)
	}
	if err != nil {
		return nil, err
	}
	return s.journal(f, id, cause)
}

// View opens a session for reading, even while another process works on it. It changes nothing and blocks no process.
func (s Store) View(id string) (*Journal, error) {
	f, err := s.openFile(id, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	return s.journal(f, id, errView)
}

// Owned reports whether a process has a session open for writing; a killed process does not count. It changes nothing.
func Owned(s Store, id string) (bool, error) {
	f, err := s.openFile(id, os.O_RDONLY)
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }() // only read
	j := &Journal{path: f.Name()}
	text, err := readSmall(j.pidPath())
	pid, unread := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || unread != nil || errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return false, nil //nolint:nilerr // no need to try the lock, which could block another process
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	if err == nil {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) // closing would not unlock at once, see unlock
		return false, err
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return true, nil
	}
	return false, fmt.Errorf("session %s: lock: %w", id, err)
}

// journal reads the first and last line of a session's file, and closes the file if that fails. cause is why the file
// must not be written.
func (s Store) journal(f *os.File, id string, cause error) (*Journal, error) {
	j := &Journal{path: f.Name(), f: f, cause: cause}
	if err := j.open(s, id); err != nil {
		return nil, errors.Join(fmt.Errorf("session %s: %w", id, repairFirst(id, err)), f.Close())
	}
	return j, nil
}

var errView = errors.New("it was opened for reading")

func (j *Journal) open(s Store, id string) error {
	var err error
	if j.info.Header, j.head, err = readHeader(j.f); err != nil {
		return err
	}
	key, err := loadKey(s.state)
	if err != nil {
		j.info.Warnings = append(j.info.Warnings, err.Error())
	}
	j.key, j.format = keyOf(s, id, j.info.Header, key), j.info.Header.Format
	j.info.Trusted = j.key != nil
	switch {
	case j.cause != nil:
	case !j.info.Trusted:
		j.cause = ErrUntrusted
	default:
		j.cause = j.lock()
	}
	if err := j.dropTornLine(); err != nil {
		return err
	}
	j.last, err = j.lastSeq()
	j.info.LastSeq = j.last
	if j.cause == nil && event.NextSeq(j.last) > maxSeq {
		j.cause = fmt.Errorf("its last event has the number %d, which leaves no room for more: resume from a fork that ends earlier", j.last)
	}
	return err
}

// dropTornLine removes an incomplete last line, unless another process may be about to complete it.
func (j *Journal) dropTornLine() error {
	fi, err := j.f.Stat()
	if err != nil {
		return err
	}
	b := backward{r: j.f, pos: fi.Size() + 1}
	if err := b.prev(); err != nil {
		return err
	}
	j.size = b.pos
	torn := fi.Size() - j.size
	if torn == 0 || errors.Is(j.cause, ErrLocked) || errors.Is(j.cause, errView) {
		return nil
	}
	if j.cause == nil {
		if err := j.f.Truncate(j.size); err != nil {
			j.cause = fmt.Errorf("its last line is incomplete: %w", err)
		}
	}
	n, err := j.lines(j.size)
	j.info.Warnings = append(j.info.Warnings, fmt.Sprintf("line %d was cut off after %d bytes and is skipped", n+1, torn))
	return err
}

// lastSeq returns the number of the last valid envelope.
func (j *Journal) lastSeq() (uint64, error) {
	b := backward{r: j.f, pos: j.size}
	for b.pos > j.head {
		end := b.pos - 1
		if err := b.prev(); err != nil {
			return 0, err
		}
		if b.pos == end || end-b.pos > maxLine {
			continue
		}
		line := make([]byte, end-b.pos)
		if _, err := j.f.ReadAt(line, b.pos); err != nil {
			return 0, err
		}
		if env, err := decode(line); err == nil {
			return env.Seq, nil
		}
	}
	return 0, nil
}

// lines counts the lines before offset end.
func (j *Journal) lines(end int64) (int, error) {
	n, buf := 0, make([]byte, blockSize)
	r := io.NewSectionReader(j.f, 0, end)
	for {
		k, err := r.Read(buf)
		n += bytes.Count(buf[:k], []byte{'\n'})
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}

// Load reads the whole session.
func (j *Journal) Load() (Part, error) { return j.read(j.head, j.end()) }

// Tail reads the last n envelopes for the first screen, or fewer if they are large: it reads at most 1 MiB of the file,
// but at least one envelope.
func (j *Journal) Tail(n int) (Part, error) { return j.before(j.end(), n, tailBytes) }

func (j *Journal) end() int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.size
}

// before reads at least one and at most n lines, and stops at limit bytes.
func (j *Journal) before(end int64, n int, limit int64) (Part, error) {
	b := backward{r: j.f, pos: end}
	start := end
	for i := 0; i < max(n, 1) && b.pos > j.head; i++ {
		if err := b.prev(); err != nil {
			return Part{}, j.readError(err)
		}
		if i > 0 && end-b.pos > limit {
			break
		}
		start = b.pos
	}
	return j.read(start, end)
}

func newReader(r io.Reader) *bufio.Reader { return bufio.NewReaderSize(r, blockSize) }

func (j *Journal) section(start, end int64) *bufio.Reader {
	return newReader(io.NewSectionReader(j.f, start, end-start))
}

func (j *Journal) readError(err error) error {
	return fmt.Errorf("session file %s: %w", j.path, err)
}

// read decodes the lines between two offsets.
func (j *Journal) read(start, end int64) (Part, error) {
	p := Part{from: start, First: start <= j.head}
	first := 0 // number of the line at start; counted on demand
	n := 0
	var countErr error
	_, err := scan(j.section(start, end), maxLine, func(_ int64, line []byte) bool {
		n++
		env, err := decode(line)
		if err == nil {
			p.Events = append(p.Events, env)
			return true
		}
		if first == 0 {
			first, countErr = j.lines(start)
			first++
		}
		p.Warnings = append(p.Warnings, fmt.Sprintf("line %d is skipped: %v", first+n-1, err))
		return countErr == nil
	})
	if err = errors.Join(err, countErr); err != nil {
		return p, j.readError(err)
	}
	return p, nil
}

// Line is an undecoded line of a session, for callers that decode few of them. It is valid only during the call that
// receives it.
type Line struct {
	Raw  []byte // without its newline; nil if it is too long
	Type string // of the event; "" if only decoding reveals it
	Turn int    // of the event, if Type is set
	at   lineSpan
}

// lineSpan holds the offsets of a line.
type lineSpan struct{ from, to int64 }

// Lines calls f for each line except the header, in order, until f returns false. It decodes nothing: walking 200 MB
// takes some 50 ms.
func (j *Journal) Lines(f func(Line) bool) error { return j.walk(j.end(), f) }

// Older calls f for each valid envelope before p, in order, until f returns false. It keeps one envelope in memory at a
// time.
func (j *Journal) Older(p Part, f func(event.Envelope) bool) error {
	return j.walk(p.from, func(l Line) bool {
		env, err := l.Envelope()
		return err != nil || f(env)
	})
}

func (j *Journal) walk(end int64, f func(Line) bool) error {
	_, err := scan(j.section(j.head, end), maxLine, func(off int64, raw []byte) bool {
		from := j.head + off
		l := Line{Raw: raw, at: lineSpan{from, from + int64(len(raw))}}
		l.peek()
		return f(l)
	})
	if err != nil {
		return j.readError(err)
	}
	return nil
}

// Envelope decodes the line.
func (l Line) Envelope() (event.Envelope, error) { return decode(l.Raw) }

// Later returns a function that rereads the line from the file and decodes it.
func (j *Journal) Later(l Line) func() (event.Envelope, error) {
	at := l.at
	return func() (event.Envelope, error) {
		raw := make([]byte, at.to-at.from)
		if _, err := j.f.ReadAt(raw, at.from); err != nil {
			return event.Envelope{}, j.readError(err)
		}
		return decode(raw)
	}
}

// peek extracts the type and the turn of a line in the form that we write.
func (l *Line) peek() {
	head := l.Raw[:min(len(l.Raw), 512)]
	i := bytes.Index(head, typeKey)
	if i < 1 || bytes.IndexByte(head[1:i], '{') >= 0 {
		return
	}
	name, _, ok := bytes.Cut(head[i+len(typeKey):], []byte{'"'})
	if !ok {
		return
	}
	l.Type = string(name)
	if _, turn, ok := bytes.Cut(head[:i], turnKey); ok {
		l.Turn, _ = strconv.Atoi(string(turn)) // the last number before the type
	}
}

// These keys can't match within a string, where their quotes would be escaped.
var (
	typeKey = []byte(`,"type":"`)
	turnKey = []byte(`,"turn":`)
)

// decode decodes a line; nil means a line that is too long.
func decode(line []byte) (event.Envelope, error) {
	if line == nil {
		return event.Envelope{}, fmt.Errorf("it is longer than %d bytes", maxLine)
	}
	env, err := event.Decode(line)
	if err != nil {
		return env, err
	}
	if env.Seq == 0 || env.Seq > maxSeq {
		return env, fmt.Errorf("seq %d is not between 1 and %d", env.Seq, maxSeq)
	}
	return env, nil
}

// Range calls f for the envelopes with a seq above after, in order, until f returns false. It serves subscribers that
// are behind: its cost grows with the distance. It includes everything appended before the call and skips invalid
// lines.
func (j *Journal) Range(after uint64, f func(event.Envelope) bool) error {
	end := j.end()
	start, err := j.locate(after, end)
	if err != nil {
		return j.readError(err)
	}
	_, err = scan(j.section(start, end), maxLine, func(_ int64, line []byte) bool {
		env, err := decode(line)
		if err != nil || env.Seq <= after {
			return true
		}
		return f(env)
	})
	if err != nil {
		return j.readError(err)
	}
	return nil
}

// locate returns the offset after the last line with a seq of at most after, by binary search.
func (j *Journal) locate(after uint64, end int64) (int64, error) {
	from, to := j.head, end // lines before from have a lower seq, lines after to a higher one
	b := backward{r: j.f}
	for after > 0 && from < to {
		b.pos = from + (to-from)/2 + 1
		if err := b.prev(); err != nil {
			return 0, err
		}
		next, err := nextLine(j.f, b.pos+1)
		if err != nil {
			return 0, err
		}
		seq := j.seqAt(b.pos, next)
		for at := b.pos; seq == 0 && at > from; at = b.pos { // a damaged line has no seq, so the line before it is used
			if err := b.prev(); err != nil {
				return 0, err
			}
			seq = j.seqAt(b.pos, at)
		}
		if seq > after {
			to = b.pos
		} else {
			from = next
		}
	}
	return min(from, end), nil
}

// seqAt returns the seq of the line between two offsets, 0 for an unreadable line.
func (j *Journal) seqAt(from, to int64) uint64 {
	if to-from > maxLine {
		return 0
	}
	line := make([]byte, to-from)
	if _, err := j.f.ReadAt(line, from); err != nil {
		return 0
	}
	env, err := decode(line)
	if err != nil {
		return 0
	}
	return env.Seq
}

// openFile opens a session's file, which must be a regular file: others could block or lead elsewhere.
func (s Store) openFile(id string, flag int) (*os.File, error) {
	if err := CheckID(id); err != nil {
		return nil, err
	}
	f, err := OpenPlain(s.file(id), flag)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no session %s in %s", id, s.dir)
	}
	if err != nil {
		return nil, fmt.Errorf("session %s: %w", id, err)
	}
	return f, nil
}

// OpenPlain opens a regular file, and creates it with mode 0600 if flag has os.O_CREATE. A link, a FIFO or a device is
// an error; it never blocks.
func OpenPlain(path string, flag int) (*os.File, error) {
	f, err := os.OpenFile(path, flag|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, err
	}
	fi, err := f.Stat()
	if err == nil && !fi.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a plain file", path)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// readSmall reads a regular file of at most 16 MiB.
func readSmall(path string) (string, error) {
	f, err := OpenPlain(path, os.O_RDONLY)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // only read
	const limit = 16 << 20
	var text strings.Builder
	if fi, err := f.Stat(); err == nil && fi.Size() <= limit {
		text.Grow(int(fi.Size()))
	}
	if n, err := io.Copy(&text, io.LimitReader(f, limit+1)); err != nil || n <= limit {
		return text.String(), err
	}
	return "", fmt.Errorf("%s is larger than %d bytes", path, limit)
}
