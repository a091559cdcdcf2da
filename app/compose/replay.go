package compose

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"buddy/agent/conversation"
	"buddy/agent/event"
	"buddy/agent/history"
	"buddy/sessions"
)

// unneeded lists frequent event types that are skipped when a session is resumed.
var unneeded = map[string]bool{
	event.Type(event.ContextUsage{}): true, event.Type(event.RequestStarted{}): true, event.Type(event.ResponseFinished{}): true,
	event.Type(event.TurnFinished{}): true,
}

// bulky is the length in bytes of a line from which a tool result's text is read only if the model still sees it.
const bulky = 2 << 10

// replayOf reads the events from which a runtime resumes a stored session. Large results that a compaction has removed
// from the conversation come without their text. The resumed runtime is the same as with all events, but a long session
// loads in a fraction of the time. damage describes unreadable lines, "" for none.
func replayOf(j *sessions.Journal) (events []event.Envelope, damage string, err error) {
	r := replayed{convs: map[int]*conversation.Recall{0: {History: history.New("")}}}
	n := 1 // the header
	bad := skipped{}
	err = j.Lines(func(l sessions.Line) bool {
		n++
		if err := r.read(j, l); err != nil {
			bad.add(n, err)
		}
		return true
	})
	if err == nil {
		err = r.complete(j.Info().LastSeq)
	}
	return r.events, bad.String(), err
}

// skipped counts the unreadable lines of a session.
type skipped struct {
	count, first, last int
	why                error // of the first
}

func (s *skipped) add(line int, err error) {
	if s.count == 0 {
		s.first, s.why = line, err
	}
	s.count++
	s.last = line
}

// String describes all skipped lines in one line of text.
func (s *skipped) String() string {
	switch s.count {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("skipped line %d of the session file: %v", s.first, s.why)
	}
	return fmt.Sprintf("skipped %d lines of the session file, from line %d to line %d; the first: %v", s.count, s.first, s.last, s.why)
}

// reader reads an event whose line was only partly decoded.
type reader = func() (event.Envelope, error)

// replayed collects the events for a runtime.
type replayed struct {
	events []event.Envelope
	convs  map[int]*conversation.Recall // by working branch, with short results
	short  map[int]reader               // readers of the results without text, by index of the event
	turn   int                          // the highest turn of skipped events
}

// read skips the next line, or adds its event, shortened where possible.
func (r *replayed) read(j *sessions.Journal, l sessions.Line) error {
	if unneeded[l.Type] {
		r.turn = max(r.turn, l.Turn)
		return nil
	}
	if short, ok := shortResult(l); ok {
		if r.short == nil {
			r.short = make(map[int]reader)
		}
		r.short[len(r.events)] = j.Later(l)
		r.add(short)
		return nil
	}
	if short, ok := shortAsked(l); ok {
		r.add(short)
		return nil
	}
	env, err := l.Envelope()
	if err != nil {
		return err
	}
	r.add(env)
	return nil
}

// shortResult returns a bulky result without its text, but with the files that the model has seen in it. It decodes
// only the start of the line.
func shortResult(l sessions.Line) (event.Envelope, bool) {
	if len(l.Raw) < bulky || l.Type != event.Type(event.ToolResult{}) {
		return event.Envelope{}, false
	}
	env, id, name, rest, ok := beginning(l, "call_id", "name")
	if !ok {
		return env, false
	}
	short := event.ToolResult{CallID: id, Name: name}
	if next, err := rest.Token(); err != nil || next == "seen" && rest.Decode(&short.Seen) != nil {
		return env, false
	}
	env.Payload = short
	return env, true
}

// shortAsked returns an approval request without its action.
func shortAsked(l sessions.Line) (event.Envelope, bool) {
	if l.Type != event.Type(event.ApprovalAsked{}) {
		return event.Envelope{}, false
	}
	env, id, call, _, ok := beginning(l, "id", "call_id")
	env.Payload = event.ApprovalAsked{ID: id, CallID: call}
	return env, ok
}

// beginning reads the envelope of a line and the first two members of its payload, which are strings with the given
// keys. rest decodes the next bytes of the line.
func beginning(l sessions.Line, first, second string) (env event.Envelope, a, b string, rest *json.Decoder, ok bool) {
	head, payload, ok := bytes.Cut(l.Raw, []byte(`,"payload":`))
	if !ok || json.Unmarshal(append(slices.Clone(head), `,"payload":{}}`...), &env) != nil {
		return env, "", "", nil, false
	}
	d := json.NewDecoder(bytes.NewReader(payload[:min(len(payload), bulky)]))
	var words [5]json.Token
	for i := range words {
		var err error
		if words[i], err = d.Token(); err != nil {
			return env, "", "", nil, false
		}
	}
	a, aOK := words[2].(string)
	b, bOK := words[4].(string)
	return env, a, b, d, words[0] == json.Delim('{') && words[1] == first && words[3] == second && aOK && bOK
}

// add appends an event and applies it to the conversations.
func (r *replayed) add(env event.Envelope) {
	r.events = append(r.events, env)
	if p, ok := env.Payload.(event.BranchStarted); ok {
		r.convs[p.Branch] = &conversation.Recall{History: r.convs[0].Clone()}
		if p.Why == event.ForSubagent {
			r.convs[p.Branch] = &conversation.Recall{History: history.New("")}
		}
		return
	}
	h := r.convs[env.Branch]
	if h == nil {
		return
	}
	h.Take(env)
	if _, ended := env.Payload.(event.TaskFinished); ended && env.Branch != 0 {
		delete(r.convs, env.Branch)
	}
}

// complete reads the full results that the model still sees. It appends an event with the last numbers of events and
// turns, from which the runtime continues to count.
func (r *replayed) complete(last uint64) error {
	needed := make(map[string]bool)
	for _, h := range r.convs {
		for _, m := range h.Messages() {
			needed[m.ToolCallID] = true
		}
	}
	for at, read := range r.short {
		p, ok := r.events[at].Payload.(event.ToolResult)
		if !ok || !needed[p.CallID] {
			continue
		}
		var err error
		if r.events[at], err = read(); err != nil {
			return err
		}
	}
	if last > 0 {
		r.events = append(r.events, event.Envelope{Seq: last, Turn: r.turn, Payload: event.Notice{}})
	}
	return nil
}
