package history

import (
	"fmt"
	"slices"

	"buddy/agent/model"
)

const (
	keepUnits    = 3 // newest exchanges, never removed
	keepFailures = 3 // most recent failures whose exchanges are kept
)

// Cut is the result of one compaction. Index 0 is the first message that compaction may remove from the uncut history:
// the one after the system messages, the earlier summary, the restored message, and the message about where the model
// works.
type Cut struct {
	Summary  string // replaces the removed messages; "" for nothing
	Restored string // a user message before the summary, with text that the model should keep; "" for nothing
	Boundary int    // all messages from this index on are kept
	Kept     []int  // indexes before Boundary that are kept as well, ascending
}

// Report describes a compaction. Zero Messages means that nothing could be removed.
type Report struct {
	Cut
	Before, After int // tokens
	Messages      int // removed
	Turns         int // removed exchanges
}

// unit is a range of messages that compaction removes together, usually an exchange: a prompt, the reminders right
// before it and everything up to the next exchange. The first exchange includes the messages before the first prompt.
type unit struct{ from, to int } // indexes, to is exclusive

// Compact replaces the oldest exchanges by one summary after the leading system messages, until the history has at most
// target tokens or nothing more may be removed. The newest three exchanges, those with the three most recent failures,
// the first prompt and pinned messages are kept. Slices that Messages returned earlier do not change.
func (h *History) Compact(target int) Report {
	return compact(h, target, removal{exchanges: h.removable(), stays: h.stays})
}

// CompactTurns is like Compact, but if the history still has more than target tokens, it also removes reminders and
// turns (answers that called tools, with the results) from the exchanges that stay, the oldest first. The newest answer
// that called tools stays.
func CompactTurns(h *History, target int) Report {
	return compact(h, target, removal{exchanges: h.removable(), inner: turns(h), stays: h.stays})
}

// CompactAll is like Compact, but may remove all exchanges except the newest, even the first prompt; pinned messages
// stay. The summary has at most a quarter of the target.
func CompactAll(h *History, target int) Report {
	all := units(h.body())
	return compact(h, target, removal{exchanges: all[:max(0, len(all)-1)], stays: h.pinned, summary: target * CharsPerToken / 4})
}

// CompactUnsent removes the reminders after the last answer, whose prompts have already been removed.
func CompactUnsent(h *History) Report {
	var unsent []unit
	for i := len(h.body()) - 1; i >= 0 && reminds(h.body()[i]); i-- {
		unsent = append(unsent, unit{i, i + 1})
	}
	slices.Reverse(unsent)
	return compact(h, 0, removal{inner: unsent, stays: h.pinned})
}

func reminds(m model.Message) bool { return m.Role == model.User && m.Kind == model.Reminder }

// removal selects what a compaction may remove: first exchanges, then inner.
type removal struct {
	exchanges []unit
	inner     []unit         // parts of exchanges that stay
	stays     func(int) bool // reports whether a message stays, by index
	summary   int            // maximum characters of the summary; 0 = any number
}

// compact removes messages until h has at most target tokens.
func compact(h *History, target int, r removal) Report {
	report := Report{Before: h.Tokens(), After: h.Tokens()}
	if report.Before <= target {
		return report
	}
	digest, bad := readDigest(h.Earlier()), failures(h.results, len(h.results))
	gone := make(map[int]bool)
	room := 0 // removed characters
	for i := h.system; i < h.start(); i++ {
		if !h.here || i != hereAt(h) {
			room += size(h.msgs[i])
		}
	}
	for n, u := range slices.Concat(r.exchanges, r.inner) {
		for i := u.from; i < u.to; i++ {
			if !gone[i] && !r.stays(i) {
				gone[i] = true
				room += size(h.body()[i])
				digest.describe(h.body()[i], h.meant, bad)
				report.Boundary = max(report.Boundary, i+1)
			}
		}
		report.Turns = min(n+1, len(r.exchanges))
		limit := room
		if r.summary > 0 {
			limit = min(room, r.summary)
		}
		report.Summary = digest.text(limit)
		if h.gauge.without(room, report.Summary) <= target {
			break
		}
	}
	if len(gone) == 0 {
		return report
	}
	report.Messages = len(gone)
	for i := range report.Boundary {
		if !gone[i] {
			report.Kept = append(report.Kept, i)
		}
	}
	if err := h.Apply(report.Cut); err != nil {
		panic(err) // a unit was cut in two: a bug
	}
	report.After = h.Tokens()
	return report
}

// without estimates the tokens that the history will have after room characters are removed and the summary is added.
func (g *gauge) without(room int, summary string) int {
	chars := g.chars + g.fixed - room
	if summary != "" {
		chars += size(summaryMessage(summary))
	}
	return g.scaled(chars / CharsPerToken)
}

// failures returns the ids of the newest failed calls, at most n.
func failures(results []result, n int) map[string]bool {
	calls := make(map[string]bool)
	for i := len(results) - 1; i >= 0 && len(calls) < n; i-- {
		if results[i].failed {
			calls[results[i].id] = true
		}
	}
	return calls
}

// Apply makes a cut that Compact or Older returned, now or when the session is replayed. If the cut does not fit this
// history, Apply returns an error and changes nothing.
func (h *History) Apply(c Cut) error {
	start, body := h.start(), h.body()
	if c.Boundary < 0 || c.Boundary > len(body) {
		return fmt.Errorf("compaction up to message %d of %d", c.Boundary, len(body))
	}
	msgs := append([]model.Message(nil), h.msgs[:h.system]...)
	if c.Summary != "" {
		msgs = append(msgs, summaryMessage(c.Summary))
	}
	if h.here {
		msgs = append(msgs, h.msgs[hereAt(h)])
	}
	if c.Restored != "" {
		msgs = append(msgs, model.Message{Role: model.User, Kind: model.Reminder, Content: c.Restored})
	}
	pins := make(map[int]bool)
	last := -1
	for _, i := range c.Kept {
		if i <= last || i >= c.Boundary {
			return fmt.Errorf("compaction keeps message %d after %d, before %d", i, last, c.Boundary)
		}
		last = i
		if h.pins[start+i] {
			pins[len(msgs)] = true
		}
		msgs = append(msgs, body[i])
	}
	for i := c.Boundary; i < len(body); i++ {
		if h.pins[start+i] {
			pins[len(msgs)] = true
		}
		msgs = append(msgs, body[i])
	}
	if err := paired(msgs, len(h.open)); err != nil {
		return fmt.Errorf("compaction up to message %d: %w", c.Boundary, err)
	}
	h.msgs, h.pins, h.summary, h.recall = msgs, pins, c.Summary != "", c.Restored != ""
	h.recount()
	return nil
}

// recount updates everything that is derived from the messages.
func (h *History) recount() {
	h.gauge.chars = 0
	present := make(map[string]bool)
	for _, m := range h.msgs {
		h.gauge.chars += size(m)
		if m.Role == model.Tool {
			present[m.ToolCallID] = true
		}
	}
	results, seen := h.results, h.seen
	h.results, h.seen = nil, 0
	for i, r := range results {
		if present[r.id] {
			h.results = append(h.results, r)
			if i < seen {
				h.seen = len(h.results)
			}
		}
	}
}

// paired returns an error unless every call is followed by its result, in order, and every result has its call. open is
// the number of calls of the last answer that may lack a result.
func paired(msgs []model.Message, open int) error {
	for i := 0; i < len(msgs); i++ {
		if msgs[i].Role == model.Tool {
			return fmt.Errorf("the result %q has lost its call", msgs[i].ToolCallID)
		}
		for _, c := range msgs[i].ToolCalls {
			switch {
			case i+1 < len(msgs) && msgs[i+1].Role == model.Tool && msgs[i+1].ToolCallID == c.ID:
				i++
			case open > 0:
				open--
			default:
				return fmt.Errorf("the call %q has lost its result", c.ID)
			}
		}
	}
	return nil
}

// start returns the index of the first message that compaction may remove.
func (h *History) start() int {
	n := hereAt(h)
	if h.here {
		n++
	}
	if h.recall {
		n++
	}
	return n
}

func (h *History) body() []model.Message { return h.msgs[h.start():] }

// units splits the messages that compaction may remove into exchanges.
func units(body []model.Message) []unit {
	var all []unit
	seen := false
	for i, m := range body {
		switch {
		case i == 0:
			all = append(all, unit{})
		case opens(m) && seen:
			last := &all[len(all)-1]
			for last.to > last.from+1 && reminds(body[last.to-1]) {
				last.to--
			}
			all = append(all, unit{from: last.to})
		}
		seen = seen || opens(m)
		all[len(all)-1].to = i + 1
	}
	return all
}

func opens(m model.Message) bool { return m.Role == model.User && m.Kind == model.Prompt }

func prompted(m model.Message) bool { return m.Role == model.User && m.Kind != model.Reminder }

// Removable reports whether CompactTurns with a low enough target would remove anything from h.
func Removable(h *History) bool { return len(h.removable()) > 0 || len(turns(h)) > 0 }

// turns returns what may be removed inside exchanges, oldest first: reminders, and answers that called tools, together
// with the results. It omits the last answer with calls, pinned messages, and messages that no model has answered.
func turns(h *History) []unit {
	body := h.body()
	answered := len(body)
	for answered > 0 && body[answered-1].Role != model.Assistant {
		answered--
	}
	var all []unit
	last := -1 // index of the last answer in all
	for i := 0; i < answered; i++ {
		u := unit{i, i + 1}
		calls := len(body[i].ToolCalls) > 0
		for calls && u.to < len(body) && body[u.to].Role == model.Tool {
			u.to++
		}
		i = u.to - 1
		if !calls && !reminds(body[u.from]) || h.stays(u.from) {
			continue
		}
		if calls {
			last = len(all)
		}
		all = append(all, u)
	}
	if last < 0 {
		return all
	}
	return slices.Delete(all, last, last+1)
}

// removable returns the exchanges that may be removed, oldest first.
func (h *History) removable() []unit {
	body, failures := h.body(), failures(h.results, keepFailures)
	all := units(body)
	var may []unit
	for _, u := range all[:max(0, len(all)-keepUnits)] {
		failed, stay := false, 0
		for i := u.from; i < u.to; i++ {
			failed = failed || failures[body[i].ToolCallID]
			if h.stays(i) {
				stay++
			}
		}
		if !failed && stay < u.to-u.from {
			may = append(may, u)
		}
	}
	return may
}

// Pin protects a message of Messages, counted from 0, from every compaction, together with the
// calls or results that belong to it. It reports whether the message exists; system messages
// are always kept.
func (h *History) Pin(i int) bool {
	at, ok := h.anchor(i)
	if ok {
		h.pins[at] = true
	}
	return ok
}

// Unpin undoes Pin and reports whether the message was pinned.
func (h *History) Unpin(i int) bool {
	at, ok := h.anchor(i)
	ok = ok && h.pins[at]
	delete(h.pins, at)
	return ok
}

// PinExchange pins or unpins all messages of an exchange; back 1 is the newest exchange, 2 the one before it. It
// returns the number of messages, or 0 if there is no such exchange.
func (h *History) PinExchange(back int, on bool) int {
	all := units(h.body())
	if back < 1 || back > len(all) {
		return 0
	}
	u := all[len(all)-back]
	for i := u.from; i < u.to; i++ {
		if on {
			h.Pin(h.start() + i)
		} else {
			h.Unpin(h.start() + i)
		}
	}
	return u.to - u.from
}

// stays reports whether every compaction keeps the message at index i of the body, because it is pinned or is the first
// prompt, which states the task.
func (h *History) stays(i int) bool {
	return h.pinned(i) || i == slices.IndexFunc(h.body(), opens)
}

func (h *History) pinned(i int) bool {
	at, _ := h.anchor(h.start() + i)
	return h.pins[at]
}

// anchor returns the index of the message with the call if message i is a result, otherwise i. It returns false if i is
// out of range.
func (h *History) anchor(i int) (int, bool) {
	if i < h.start() || i >= len(h.msgs) {
		return -1, false
	}
	for h.msgs[i].Role == model.Tool {
		i--
	}
	return i, true
}
