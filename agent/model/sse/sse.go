// Package sse reads the stream of server-sent events in which a model's answer arrives.
//
// It accepts the variations of real servers: any line ending, data on several lines, comments, and plain JSON instead
// of a stream, which it returns as one event. It converts error objects, web pages and endless lines to a
// [model.Error]. Memory is limited to a few times [MaxEvent].
//
//	r := sse.NewReader(resp.Body, resp.Header.Get("Content-Type"))
//	event, err := r.Next() // until io.EOF, then:
//	whole := r.Finished()  // false: the connection was cut off
package sse

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"strings"
	"time"

	"buddy/agent/model"
)

// MaxEvent is the maximum length of an event and of a line, in bytes.
const MaxEvent = 8 << 20

const (
	chunkSize = 32 << 10 // of one read
	drainSize = 4 << 10  // read after the end, so that the connection can be reused
	drainTime = 100 * time.Millisecond
)

// mode is the kind of a body, which its first byte shows.
type mode uint8

const (
	unknown mode = iota
	events
	document // one JSON value
)

var (
	field = []byte("data:")
	done  = []byte("[DONE]")
	mark  = []byte("\xef\xbb\xbf") // a byte order mark
)

// Reader reads the events in a body. Create it with NewReader. It is not safe for concurrent use, except that Close may
// be called while Next waits.
type Reader struct {
	body     io.ReadCloser
	html     bool // by the content type
	mode     mode
	started  bool   // after a possible byte order mark
	in       []byte // the buffer of reads
	line     []byte // an incomplete line
	skipLF   bool   // the last byte was a CR
	data     []byte // the event so far
	lines    int    // lines in data
	failed   bool   // the event so far is named error
	odd      []byte // the start of lines that are not in the format, see end
	out      []byte // events to return, one per line
	at       int    // how much of out was returned
	err      error  // returned after out
	finished bool
	any      bool // an event arrived
}

// NewReader returns a Reader that owns body. contentType is the value of the header, of which only text/html matters;
// otherwise the body's first byte shows its kind.
func NewReader(body io.ReadCloser, contentType string) *Reader {
	kind, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		kind = contentType
	}
	return &Reader{
		body: body,
		html: strings.EqualFold(kind, "text/html") || strings.EqualFold(kind, "application/xhtml+xml"),
		in:   make([]byte, chunkSize),
	}
}

// Finished reports whether the body has an end mark: it ended with [DONE], or was one JSON document, or Finish was
// called.
func (r *Reader) Finished() bool { return r.finished }

// Next returns the next event without the prefix "data: ". The bytes are valid until the next call. If only bytes that
// form no event have arrived, such as a comment, it returns nil without an error, which shows that the server is alive.
// Every error except io.EOF and the body's own errors is a [model.Error] without an Endpoint.
func (r *Reader) Next() ([]byte, error) {
	if r.at == len(r.out) {
		if r.err != nil {
			return nil, r.err
		}
		r.out, r.at = r.out[:0], 0
		if r.fill(); len(r.out) == 0 {
			return nil, r.err
		}
	}
	line := r.out[r.at:]
	n := bytes.IndexByte(line, '\n') // found: emit writes complete lines
	r.at += n + 1
	return line[:n], nil
}

// More reports whether Next can return another event without reading from the body.
func (r *Reader) More() bool { return r.at < len(r.out) }

// Partial reports whether an incomplete event has arrived.
func (r *Reader) Partial() bool {
	return len(r.data) > 0 || bytes.HasPrefix(r.line, field)
}

// Finish marks the answer as complete, for protocols whose end marker is not [DONE].
func (r *Reader) Finish() { r.finished = true }

// Close ends the answer. After a complete answer, it first reads the few bytes that may follow, for at most 100 ms,
// because a connection can be reused only if it was read to its end.
func (r *Reader) Close() error {
	if r.finished {
		t := time.AfterFunc(drainTime, func() { _ = r.body.Close() })
		_, _ = io.CopyN(io.Discard, r.body, drainSize) // these bytes have no meaning
		t.Stop()
	}
	return r.body.Close()
}

// fill reads once and converts the bytes.
func (r *Reader) fill() {
	n, err := r.body.Read(r.in)
	chunk := r.in[:n]
	if n > 0 && r.mode == unknown {
		chunk = r.sniff(chunk)
	}
	switch {
	case r.err != nil:
		return
	case r.mode == document:
		r.grow(&r.data, chunk, "the answer is one JSON document")
	case r.mode == events:
		r.split(chunk)
	}
	if err != nil && r.err == nil {
		r.end(err)
	}
}

// sniff detects the kind of the body from the first byte that is not white space. Until that byte arrives, it stores
// nothing but the start of a byte order mark.
func (r *Reader) sniff(chunk []byte) []byte {
	r.line = append(r.line, chunk...)
	head := r.line
	if !r.started && len(head) < len(mark) && bytes.HasPrefix(mark, head) {
		return nil // may become a mark
	}
	if !r.started {
		head = bytes.TrimPrefix(head, mark)
	}
	r.started = true
	head = bytes.TrimLeft(head, " \t\r\n")
	r.line = append(r.line[:0], head...)
	if len(r.line) == 0 {
		return nil
	}
	if r.html || r.line[0] == '<' {
		if len(r.line) < 400 { // enough for the excerpt
			rest, _ := io.ReadAll(io.LimitReader(r.body, 400))
			r.line = append(r.line, rest...)
		}
		page := model.Malformed("answered with a web page instead of data", r.line, nil)
		page.Hint = "this is not an API: check api_base_url, which often ends in /v1"
		r.err = page
		return nil
	}
	r.mode = events
	if r.line[0] == '{' || r.line[0] == '[' {
		r.mode = document
	}
	head = bytes.Clone(r.line)
	r.line = r.line[:0]
	return head
}

// grow appends a part to a buffer. If the buffer would exceed MaxEvent bytes, it sets r.err instead, to an error whose
// text starts with what.
func (r *Reader) grow(to *[]byte, part []byte, what string) {
	if len(*to)+len(part) > MaxEvent {
		r.err = &model.Error{Kind: model.FormatError, What: fmt.Sprintf("%s longer than %d MiB", what, MaxEvent>>20)}
		r.line, r.data = nil, nil
		return
	}
	*to = append(*to, part...)
}

// split cuts a chunk into lines.
func (r *Reader) split(chunk []byte) {
	for len(chunk) > 0 && r.err == nil {
		if r.skipLF {
			r.skipLF = false
			if chunk[0] == '\n' {
				chunk = chunk[1:]
				continue
			}
		}
		i := lineEnd(chunk)
		if i < 0 {
			r.grow(&r.line, chunk, "a line of the answer is")
			return
		}
		line := chunk[:i]
		r.skipLF = chunk[i] == '\r'
		chunk = chunk[i+1:]
		if len(r.line) > 0 {
			r.grow(&r.line, line, "a line of the answer is")
			line = r.line
		}
		if r.err == nil {
			r.addLine(line)
		}
		r.line = r.line[:0]
	}
}

// lineEnd returns the index of the first CR or LF, -1 if there is none.
func lineEnd(b []byte) int {
	lf := bytes.IndexByte(b, '\n')
	head := b
	if lf >= 0 {
		head = b[:lf]
	}
	if cr := bytes.IndexByte(head, '\r'); cr >= 0 {
		return cr
	}
	return lf
}

// addLine handles one line: a field, or the empty line that ends an event.
func (r *Reader) addLine(line []byte) {
	if len(line) == 0 {
		r.emit()
		return
	}
	value, ok := bytes.CutPrefix(line, field)
	if !ok {
		r.addField(line)
		return
	}
	value = bytes.TrimPrefix(value, []byte(" "))
	if r.lines == 1 && whole(r.data) {
		r.emit() // some servers omit the empty line
	}
	if r.err != nil {
		return
	}
	if r.lines > 0 {
		// In out, a newline would end the event. In JSON, a space means the same.
		r.data = append(r.data, ' ')
	}
	r.grow(&r.data, value, "an event of the answer is")
	r.lines++
}

// addField handles a line without data. An event's name matters only if it is error; llama.cpp has sent errors as a
// field: "error: {…}".
func (r *Reader) addField(line []byte) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimSpace(value)
	switch string(name) {
	case "event":
		r.failed = string(value) == "error"
	case "error":
		if len(value) > 0 && !isBlank(value) {
			r.err = Reported(value)
		}
	case "", "id", "retry":
	default:
		if len(r.odd) < maxOdd {
			r.odd = append(append(r.odd, line[:min(len(line), maxOdd)]...), ' ')
		}
	}
}

// maxOdd limits how many bytes outside of events are kept for an error message, which shows only the first ones.
const maxOdd = 400

// whole reports whether the data lines so far form a complete event.
func whole(data []byte) bool {
	data = bytes.TrimSpace(data)
	return bytes.Equal(data, done) || bytes.HasSuffix(data, []byte("}")) && json.Valid(data)
}

func (r *Reader) emit() {
	data := bytes.TrimSpace(r.data)
	failed := r.failed
	r.data, r.lines, r.failed = r.data[:0], 0, false
	if len(data) == 0 {
		return
	}
	r.odd, r.any = nil, true
	if err := reported(data, failed); err != nil {
		r.err = err
		return
	}
	r.out = append(append(r.out, data...), '\n')
	if bytes.Equal(data, done) {
		r.finished = true
		r.err = io.EOF
	}
}

// end handles the end of the body, with err as the reason.
func (r *Reader) end(err error) {
	if !errors.Is(err, io.EOF) {
		r.err = err
		return
	}
	switch r.mode {
	case unknown:
		r.err = &model.Error{Kind: model.CutError, What: "the answer is empty"}
	case document:
		r.endDocument()
	case events:
		if len(r.line) > 0 {
			r.addLine(r.line)
		}
		if r.err == nil && r.lines > 0 && !whole(r.data) {
			r.err = model.Cut()
		}
		if r.err == nil {
			r.emit()
		}
		if plain := bytes.TrimSpace(r.odd); r.err == nil && !r.any && len(plain) > 0 {
			r.err = model.Malformed("answered with plain text instead of data", plain, nil)
		}
	}
	if r.err == nil {
		r.err = io.EOF
	}
}

// endDocument turns a JSON body into one event.
func (r *Reader) endDocument() {
	var line bytes.Buffer
	if err := json.Compact(&line, r.data); err != nil {
		if strings.Contains(err.Error(), "unexpected end") {
			r.err = model.Cut()
			return
		}
		r.err = model.Malformed("the answer is not valid JSON", r.data, err)
		return
	}
	r.data, r.lines = line.Bytes(), 1
	if r.emit(); r.err == nil {
		r.finished = true
	}
}
