package sessions

import (
	"bytes"
	"context"
	"errors"
	"os"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"buddy/agent/event"
	"buddy/texts"
)

// Hit is an event that contains the searched text. Text is untrusted.
type Hit struct {
	Entry    Entry
	Envelope event.Envelope
	Text     string // one line around the match; "(left)" starts a text before a rewind
}

const (
	searchPart  = 8 << 20 // bytes of a file that one processor searches at a time
	searchAhead = 8       // parts for each processor that may finish out of order
	hitAround   = 40      // bytes of text on each side of a match
)

// Search calls f for each event that contains a text, in the order of the list and, within a session, of the file,
// until f returns false or ctx ends. It ignores the case of ASCII letters, unless the text has an upper-case letter. It
// searches the bytes of the files, on all processors, and decodes only matching lines. A call with a match only in its
// complete output comes after the other events of its session.
func (s Store) Search(ctx context.Context, what string, f func(Hit) bool) error {
	if strings.TrimSpace(what) == "" {
		return errors.New("the search text is empty")
	}
	entries, err := s.List()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	n := runtime.GOMAXPROCS(0)
	q := newQuery(what)
	queue := make(chan *part)
	order := make(chan *part, n*searchAhead)
	var workers sync.WaitGroup
	defer workers.Wait()
	defer cancel()
	for range n {
		workers.Go(func() {
			var r rawScanner
			for p := range queue {
				p.hits = s.searchPart(ctx, q, &r, p)
				close(p.done)
			}
		})
	}
	workers.Go(func() { divide(ctx, s, entries, order, queue) })
	found := make(map[foundCall]bool)
	for p := range order {
		select {
		case <-p.done:
		case <-ctx.Done():
			return ctx.Err()
		}
		for _, h := range p.hits {
			call := foundCall{h.Entry.ID, h.Envelope.Seq}
			if p.output != "" && found[call] {
				continue
			}
			if found[call] = true; !f(h) {
				return nil
			}
		}
	}
	return ctx.Err()
}

// foundCall identifies the event of a hit.
type foundCall struct {
	session string
	seq     uint64
}

// divide sends the parts of all sessions, each to order and then to queue, until ctx ends.
func divide(ctx context.Context, s Store, entries []Entry, order, queue chan<- *part) {
	defer close(order)
	defer close(queue)
	send := func(p *part) bool {
		p.done = make(chan struct{})
		for _, to := range []chan<- *part{order, queue} {
			select {
			case to <- p:
			case <-ctx.Done():
				return false
			}
		}
		return true
	}
	for i := range entries {
		e := &entries[i]
		files := append([]outputFile{{bytes: e.Size}}, outputFiles(s, e.ID)...)
		for _, file := range files {
			for from := int64(0); from < file.bytes; from += searchPart {
				if !send(&part{entry: e, output: file.path, from: from}) {
					return
				}
			}
		}
	}
}

// part is a part of a session's file to search, with the lines that start in it, or a part of an output.
type part struct {
	entry  *Entry
	output string // the path of the output, "" for the session's file
	from   int64
	hits   []Hit
	done   chan struct{} // closed when hits is complete
}

func (s Store) searchPart(ctx context.Context, q *query, r *rawScanner, p *part) (hits []Hit) {
	if p.output != "" {
		return searchOutput(ctx, s, q, r, p)
	}
	f, err := s.openFile(p.entry.ID, os.O_RDONLY)
	if err != nil {
		return nil // it was just removed
	}
	defer f.Close() //nolint:errcheck // only read
	from, to := p.from, min(p.from+searchPart, p.entry.Size)
	if from, err = nextLine(f, from); err != nil {
		return nil
	}
	if to < p.entry.Size {
		if to, err = nextLine(f, to); err != nil {
			return nil
		}
	}
	left := leftEvents{file: f, size: p.entry.Size}
	_, _ = r.lines(f, from, to, q.find, func(line []byte) bool { // an unreadable part has no hits
		env, err := event.Decode(line)
		if err != nil || env.Payload == nil {
			return true // damaged, or the header
		}
		if text, ok := q.in(env.Payload); ok {
			if left.has(env) {
				text = "(left) " + text
			}
			hits = append(hits, Hit{Entry: *p.entry, Envelope: env, Text: text})
		}
		return ctx.Err() == nil
	})
	return hits
}

// leftEvents determines which events of a session were abandoned by a rewind. It reads the file on first use, if the
// session has rewinds.
type leftEvents struct {
	file    *os.File
	size    int64
	read    bool
	rewinds event.Rewinds
}

var rewoundType = []byte(`"type":"` + event.Type(event.HistoryRewound{}) + `"`)

func (l *leftEvents) has(env event.Envelope) bool {
	if !l.read {
		l.read = true
		if h, _, err := readHeader(l.file); err != nil || h.Format == formatPlain {
			return false
		}
		var r rawScanner
		_, _ = r.lines(l.file, 0, l.size, func(text []byte) int { return findType(text, rewoundType) }, func(line []byte) bool {
			if env, err := event.Decode(line); err == nil && env.Payload != nil {
				l.rewinds.Take(env)
			}
			return true
		})
	}
	return env.Branch == 0 && l.rewinds.Gone(env.Seq)
}

// nextLine returns the offset of the first line that starts at or after off.
func nextLine(f *os.File, off int64) (int64, error) {
	if off == 0 {
		return 0, nil
	}
	var buf [32 << 10]byte
	for off--; ; off += int64(len(buf)) {
		n, err := f.ReadAt(buf[:], off)
		if i := bytes.IndexByte(buf[:n], '\n'); i >= 0 {
			return off + int64(i) + 1, nil
		}
		if err != nil {
			return off + int64(n), notEOF(err)
		}
	}
}

// query is the text to find.
type query struct {
	text  string
	exact bool       // case-sensitive
	raw   []byte     // as encoded in a line; lower case unless exact
	fold  texts.Fold // finds raw unless exact
}

func newQuery(what string) *query {
	q := &query{text: what, exact: strings.ContainsFunc(what, unicode.IsUpper)}
	q.raw = escaped(what)
	if !q.exact {
		q.fold = texts.NewFold(q.raw)
	}
	return q
}

// escaped returns text as encoded in our JSON strings.
func escaped(text string) []byte {
	b, err := texts.JSON(text)
	if err != nil {
		return []byte(text) // cannot happen: any string can be encoded
	}
	return b[1 : len(b)-1]
}

// find returns the index of the query in text, or -1.
func (q *query) find(text []byte) int {
	if q.exact {
		return bytes.Index(text, q.raw)
	}
	return q.fold.Index(text)
}

// in searches the texts of an event and returns a line around the match. A text that several events repeat counts in
// one of them only.
func (q *query) in(e event.Event) (line string, ok bool) {
	find := func(s string) int { return strings.Index(s, q.text) }
	if !q.exact {
		fold := texts.NewFold([]byte(q.text))
		find = func(s string) int { return fold.Index([]byte(s)) }
	}
	look := func(s string) string {
		if i := find(s); i >= 0 && !ok {
			line, ok = around(s, i, len(q.text)), true
		}
		return s
	}
	switch p := e.(type) {
	case event.TaskQueued, event.TaskStarted, event.Checkpoint, event.ApprovalAsked, event.DecisionExplained,
		event.QuestionAsked, event.QuestionAnswered, event.PlanExited, event.TodoChanged: // the call or its result has the same text
		return "", false
	case event.BranchStarted, event.ContextUsage, event.HookRan, event.ReminderAttached: // nobody wrote them
		return "", false
	case event.ModelMessage:
		p.Message.ToolCalls = nil
		e = p
	case event.ToolRequested: // the action is easier to read than the arguments
		editTexts(reflect.ValueOf(&p.Action).Elem(), look)
	case event.ToolResult: // the tail is easier to read
		look(p.Tail)
	}
	eventTexts(e, look)
	return line, ok
}

// around returns a line with the n bytes at i and some context.
func around(text string, i, n int) string {
	from, to := max(i-hitAround, 0), min(i+n+hitAround, len(text))
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to++
	}
	line := oneLine(text[from:to])
	if from > 0 {
		line = "…" + line
	}
	if to < len(text) {
		line += "…"
	}
	return line
}
