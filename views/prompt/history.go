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

// history holds the earlier prompts and how far back one is looking. The draft is kept
// while looking, and while a queued prompt is edited instead.
type history struct {
	entries []string // oldest first
	back    int      // how many steps back; 0 is the draft
	draft   []byte
}

func (h *history) set(entries []string) {
	h.entries = slices.Clone(entries[max(0, len(entries)-maxHistory):])
	h.leave()
}

// add appends text unless it is blank or what was added last.
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

// leave forgets the draft: the text is no longer an entry that is looked at.
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

// aside keeps what is typed as the draft, before another text than an entry takes its place.
func (h *history) aside(e *edit.Editor) {
	if h.back == 0 && h.draft == nil && !e.Empty() {
		h.draft = e.Draft()
	}
	h.back = 0
}

// find returns the newest entry older than at, or the oldest newer than it, that holds
// query; -1 if there is none. Lower case finds upper case too.
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

// historySearch holds a search that is under way.
type historySearch struct {
	in    *history
	query string
	at    int // the entry that was found; total if none is
	total int // how many entries there were when it began
	found *edit.Editor
}

func newHistorySearch(in *history) *historySearch {
	total := len(in.entries)
	return &historySearch{in: in, at: total, total: total, found: edit.New()}
}

func (s *historySearch) failed() bool { return s.query != "" && s.at == s.total }

// look looks for another query, beginning at what is shown.
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

// step shows the next match from an entry on in a direction, if there is one.
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

// erase drops the last character of the query.
func (s *historySearch) erase() {
	if s.query != "" {
		s.at = s.total // a shorter query is looked for from the newest on
		s.look(edit.DropLast(s.query))
	}
}

// draw draws the line of the search, with the cursor at its end if keys come here.
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

// searchKey handles a key during a search and says whether that was all. A key of the
// prompt takes the match over and then does what it does.
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

func (p *Prompt) endSearch(take bool) {
	s := p.search
	p.search = nil
	if take && s.at < s.total {
		p.history.leave()
		p.edit(func() { p.editor.Replace(p.history.entries[s.at]) })
	}
}
