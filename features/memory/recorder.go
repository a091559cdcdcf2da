package memory

import (
	"cmp"
	"context"
	"log/slog"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/texts"
)

// Sizes of output that is observed, in bytes, both limits excluded.
const (
	leastResult = 10
	mostResult  = 5000
)

// maxQueued limits the records that wait to be written. More are dropped, so that Observe never blocks.
const maxQueued = 1000

// recorder turns events into records. A goroutine writes them; it runs only while the queue has records.
type recorder struct {
	s *Store

	mu     sync.Mutex // guards all below
	calls  map[string]call
	asks   map[string]string // call ids by approval id
	done   []string          // finished calls, oldest first; their changes may still be undone
	queue  []Record
	idle   chan struct{} // closed when the queue is written; nil: nothing is being written
	count  int           // records so far, for their ids
	lines  int           // of the file; -1: not counted
	failed bool          // the first error was logged
}

// call is a tool call that the person may correct.
type call struct {
	name, args string
	act        action.Action
	edited     bool // the person changed its arguments
	hooked     bool
	undone     string // id of the record of its undone changes
}

// maxDone limits the finished calls that are kept for undo.
const maxDone = 200

func newRecorder(s *Store) *recorder {
	return &recorder{s: s, calls: make(map[string]call), asks: make(map[string]string), lines: -1}
}

// Observe turns an event into records. It never blocks, because the recorder's goroutine writes them.
func (s *Store) Observe(env event.Envelope) {
	if e, ok := env.Payload.(event.ModeChanged); ok {
		s.mu.Lock()
		s.mode = e.Mode
		s.mu.Unlock()
	}
	switch env.Payload.(type) {
	case event.ToolRequested, event.ApprovalAsked, event.ApprovalAnswered, event.ToolResult, event.FileRestored, event.PromptSubmitted:
	default:
		return // most events of a streamed answer
	}
	if s.ended() != nil {
		return
	}
	r := s.recorder
	r.mu.Lock()
	defer r.mu.Unlock()
	switch e := env.Payload.(type) {
	case event.ToolRequested:
		r.requested(env, e)
	case event.ApprovalAsked:
		r.asks[e.ID] = e.CallID
	case event.ApprovalAnswered:
		r.answered(env, e)
	case event.ToolResult:
		r.result(env, e)
	case event.FileRestored:
		switch {
		case e.Redo:
			r.redone(env, e)
		case !e.Rewind: // a rewind does not criticize a single call
			r.restored(env, e)
		}
	case event.PromptSubmitted:
		r.prompted(env, e)
	}
}

// Flush waits until all records are written, which takes milliseconds, or ctx ends.
func (s *Store) Flush(ctx context.Context) {
	r := s.recorder
	r.mu.Lock()
	idle := r.idle
	r.mu.Unlock()
	if idle == nil {
		return
	}
	select {
	case <-idle:
	case <-ctx.Done():
	}
}

// requested stores a call. A call that the person edited is a correction of the original.
func (r *recorder) requested(env event.Envelope, e event.ToolRequested) {
	before, again := r.calls[e.CallID]
	now := call{name: e.Name, args: e.Arguments, act: e.Action}
	r.calls[e.CallID] = now
	r.s.touch(e.Action.Target)
	if again && before.edited {
		now.edited = false
		r.correct(env, e.CallID, before, "edited", now.what())
	}
	if again && !before.edited {
		now.hooked = true // a hook changed the call, so the result is the hook's
		r.calls[e.CallID] = now
	}
}

// touch stores a target that a call names, for the entries limited to it.
func (s *Store) touch(target string) {
	if target == "" || target == s.o.Target {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.touched) < 100 {
		s.touched[target] = true
	}
}

// what returns a description of the call in one line: its command, or the tool and its path, URL or arguments.
func (c call) what() string {
	switch {
	case c.act.Command != "":
		return c.act.Command
	case c.act.Path != "":
		return c.name + " " + c.act.Path
	case c.act.URL != "":
		return c.name + " " + c.act.URL
	}
	return c.name + " " + c.args
}

// context returns the words that similar corrections share: the tool and the command up to its first operand, or the
// whole call.
func (c call) context() string {
	if c.act.Command != "" {
		return c.name + ": " + head(c.act.Command)
	}
	return c.what()
}

var word = texts.Regexp(`^[A-Za-z][\w.:+-]*$`)

// head returns a command and its subcommand.
func head(command string) string {
	fields := strings.Fields(command)
	n := 0
	for n < len(fields) && n < 2 && word().MatchString(path.Base(fields[n])) && (n == 0 || word().MatchString(fields[n])) {
		n++
	}
	if n == 0 && len(fields) > 0 {
		n = 1
	}
	return strings.Join(fields[:n], " ")
}

func (r *recorder) answered(env event.Envelope, e event.ApprovalAnswered) {
	id := cmp.Or(e.CallID, r.asks[e.ID])
	delete(r.asks, e.ID)
	c, ok := r.calls[id]
	if !ok || e.By != "user" {
		return
	}
	switch {
	case e.Decision == event.Edit:
		c.edited = true
		r.calls[id] = c
	case e.Decision == event.Deny && strings.TrimSpace(e.Reason) != "" && e.Remember == "": // else the reason became an entry, or applies only to this call
		r.correct(env, id, c, "denied", e.Reason)
	}
}

// correct records that the person wanted something other than the call, and returns the record's id.
func (r *recorder) correct(env event.Envelope, id string, c call, how, wanted string) string {
	fixed := &Corrected{Original: c.what(), Corrected: wanted, Context: c.context()}
	return r.put(env, Record{Kind: correction, Call: id, Source: how + ":" + c.name, Target: c.act.Target, Tags: tags(c), Corrected: fixed})
}

// restored records that the person undid changes of files, once for each file.
func (r *recorder) restored(env event.Envelope, e event.FileRestored) {
	noted := make(map[string]bool)
	for _, id := range e.Calls {
		c, ok := r.calls[id]
		if !ok || noted[c.context()] {
			continue
		}
		noted[c.context()] = true
		c.undone = r.correct(env, id, c, "undone", "")
		r.calls[id] = c
	}
}

// redone marks the records of undone changes as used when the changes are redone.
func (r *recorder) redone(env event.Envelope, e event.FileRestored) {
	var ids []string
	for _, id := range e.Calls {
		if c := r.calls[id]; c.undone != "" {
			ids = append(ids, c.undone)
			c.undone = ""
			r.calls[id] = c
		}
	}
	if len(ids) > 0 {
		r.put(env, Record{Kind: used, IDs: ids})
	}
}

// result records output of tools that work on this machine or a target. Web pages, servers and hooks can write
// anything, so their output is skipped.
func (r *recorder) result(env event.Envelope, e event.ToolResult) {
	c, ok := r.calls[e.CallID]
	r.finished(e.CallID)
	output := strings.TrimSpace(e.Tail)
	if !ok || e.IsError || e.ExitCode != nil && *e.ExitCode != 0 || len(output) <= leastResult || len(output) >= mostResult ||
		c.hooked || e.Original != "" || !observable(c.act.Kind) {
		return
	}
	r.put(env, Record{Kind: observation, Call: e.CallID, Source: "tool:" + e.Name, Target: c.act.Target, Tags: tags(c), Text: output})
}

// observable reports whether output of this kind of action is observed.
func observable(k action.Kind) bool {
	return slices.Contains([]action.Kind{action.FileRead, action.FileWrite, action.FileDelete, action.Shell, action.Git, action.PaneKeys}, k)
}

// finished stores the end of a call and forgets the oldest of many.
func (r *recorder) finished(id string) {
	r.done = append(r.done, id)
	if len(r.done) > maxDone {
		delete(r.calls, r.done[0])
		r.done = slices.Delete(r.done, 0, 1)
	}
}

// prompted records the sentences of a prompt that read like rules.
func (r *recorder) prompted(env event.Envelope, e event.PromptSubmitted) {
	if !r.s.o.Person || e.Queued || e.Command() || strings.HasPrefix(e.Text, "/") {
		return
	}
	for _, text := range wishes(e.Text) { // few, because a long prompt has none
		r.put(env, Record{Kind: remark, Source: "prompt", Text: text})
	}
}

// tags returns the words by which a record can be found.
func tags(c call) []string {
	all := []string{string(c.act.Kind)}
	if c.act.Command != "" {
		if h := head(c.act.Command); len(h) <= 40 && word().MatchString(strings.ReplaceAll(h, " ", "-")) {
			all = append(all, h)
		}
	}
	return all
}

// put queues a record and returns its id, or "" if the queue is full. Texts are still uncut, because write removes
// secrets first. The caller holds r.mu.
func (r *recorder) put(env event.Envelope, one Record) string {
	if len(r.queue) >= maxQueued || r.s.o.Dir == "" {
		return ""
	}
	at := time.UnixMilli(env.Time).UTC()
	if env.Time == 0 {
		at = r.s.o.Now().UTC()
	}
	one.Time, one.Session = at, cmp.Or(env.Session, r.s.o.Session)
	letter, n := "o", 8
	if one.Kind == correction || one.Kind == remark {
		letter, n = "c", 6
	}
	r.count++
	one.ID = newID(letter, n, nil, one.Session, one.Call, one.Source, strconv.Itoa(r.count), strconv.Itoa(os.Getpid()), at.Format(time.RFC3339Nano))
	r.queue = append(r.queue, one)
	if r.idle == nil {
		r.idle = make(chan struct{})
		go r.write()
	}
	return one.ID
}

// write stores queued records until the queue is empty.
func (r *recorder) write() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.queue) > 0 {
		batch, lines := r.queue, r.lines
		r.queue = nil
		r.mu.Unlock()
		for i := range batch {
			r.s.clean.record(&batch[i])
		}
		lines, err := observed{r.s.o.Dir}.store(batch, lines)
		r.mu.Lock()
		r.lines = lines
		if err != nil && !r.failed {
			r.failed = true
			slog.Debug("memory", "error", err)
		}
	}
	close(r.idle)
	r.idle = nil
}
