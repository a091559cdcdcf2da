package prompt

import (
	"slices"
	"strings"

	"buddy/app/keymap"
	"buddy/themes"
	"buddy/views/draw"
	"buddy/views/edit"
	"buddy/views/pattern"
)

const maxHistory = 1000

// history holds earlier prompts and a position among them. The draft is kept while the person looks at these prompts or
// edits a queued prompt.
type history struct {
	entries []string // oldest first
	back    int      // steps back; 0: the draft
	draft   []byte
}

func (h *history) set(entries []string) {
	h.entries = slices.Clone(entries[max(0, len(entries)-maxHistory):])
	h.leave()
}

// add appends text unless it is blank or repeats the last entry.
func (h *history) add(text string) {
	h.leave()
	if strings.TrimSpace(text) == "" || len(h.entries) > 0 && h.entries[len(h.entries)-1] == text {
		return
	}
	if len(h.entries) == maxHistory {
		h.entries = slices.Delete(h.entries, 0, 1)
	}
	h.entries = append(h.entries, text)
}

// leave drops the draft, because the text is no longer an unmodified entry.
func (h *history) leave() { h.back, h.draft = 0, nil }

func (h *history) older(e *edit.Editor) {
	if h.back == len(h.entries) {
		return
	}
	if h.back == 0 && h.draft == nil {
		h.draft = e.Draft()
	}
	h.back++
	e.Replace(h.entries[len(h.entries)-h.back])
}

func (h *history) newer(e *edit.Editor) {
	switch {
	case h.back > 1:
		h.back--
		e.Replace(h.entries[len(h.entries)-h.back])
	case h.back == 1 || h.draft != nil:
		e.Restore(h.draft)
		h.leave()
	}
}

// aside saves the text as the draft, before it is replaced by a text that is not in the history.
func (h *history) aside(e *edit.Editor) {
	if h.back == 0 && h.draft == nil && !e.Empty() {
		h.draft = e.Draft()
	}
	h.back = 0
}

// find returns the index of the entry nearest to index at that contains query, or -1. It searches older entries if by
// is -1, newer ones if by is 1. A query in lower case also finds capitals.
func (h *history) find(query string, at, by int) int {
	fold := query == strings.ToLower(query)
	for i := at + by; i >= 0 && i < len(h.entries); i += by {
		entry := h.entries[i]
		if fold {
			entry = strings.ToLower(entry)
		}
		if strings.Contains(entry, query) {
			return i
		}
	}
	return -1
}

// historySearch is a running search.
type historySearch struct {
	in    *history
	query string
	at    int // index of the match; total if there is none
	total int // number of entries at the start
	found *edit.Editor
}

func newHistorySearch(in *history) *historySearch {
	total := len(in.entries)
	return &historySearch{in: in, at: total, total: total, found: edit.New()}
}

func (s *historySearch) failed() bool { return s.query != "" && s.at == s.total }

// look searches for another query, starting at the displayed entry.
func (s *historySearch) look(query string) {
	if len(query) > pattern.MaxQuery {
		return
	}
	s.query = query
	if query == "" {
		s.at = s.total
		s.found.SetText("")
		return
	}
	from := min(s.at+1, s.total)
	s.at = s.total
	s.step(from, -1)
}

// step shows the next match from an entry in a direction, if there is one.
func (s *historySearch) step(from, by int) {
	i := s.in.find(s.query, from, by)
	if i < 0 {
		if s.at == s.total {
			s.found.SetText("")
		}
		return
	}
	s.at = i
	s.found.SetText(s.in.entries[i])
}

// erase removes the last character of the query.
func (s *historySearch) erase() {
	if s.query != "" {
		s.at = s.total // a shorter query is searched from the newest entry
		s.look(edit.DropLast(s.query))
	}
}

// draw draws the search line, with the cursor at its end if it has the focus.
func (s *historySearch) draw(c draw.Canvas, focus bool) {
	query := c.Cols(0, c.W-1)
	used := query.Spans(query.Say(0, "search: ", themes.Accent), draw.Untrusted(themes.Text, s.query)...)
	if focus {
		c.Screen.ShowCursor(c.X+used, c.Y)
	}
	const none = "no match"
	if s.failed() && used+draw.TextWidth(none)+2 < c.W {
		c.Say(used+2, none, themes.Warning)
	}
}

// searchKey handles a key during a search and reports whether it is done. A key of the prompt accepts the match; the
// caller then executes the key's action.
func (p *Prompt) searchKey(press keymap.Press) bool {
	s := p.search
	switch {
	case press.Types():
		s.look(s.query + press.Text)
		return true
	case press.Scope == keymap.Prompt:
		p.endSearch(true)
		return false
	}
	switch press.Action {
	case keymap.SearchOlder:
		s.step(s.at, -1)
	case keymap.SearchNewer:
		s.step(s.at, 1)
	case keymap.SearchErase:
		s.erase()
	case keymap.SearchAccept:
		p.endSearch(true)
	case keymap.SearchCancel:
		p.endSearch(false)
	}
	return true
}

func (p *Prompt) endSearch(accept bool) {
	s := p.search
	p.search = nil
	if accept && s.at < s.total {
		p.history.leave()
		p.edit(func() { p.editor.Replace(p.history.entries[s.at]) })
	}
}
