package dialog

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/app/keymap"
	"buddy/themes"
	"buddy/views/draw"
	"buddy/views/edit"
)

// reason is the reason for a denial, while a person types it.
type reason struct {
	editor *edit.Editor // nil until typing starts
	letter string       // letter that started it, or ""
	since  time.Time    // when it was started
	quick  bool         // text followed the letter so fast that the person may be typing a prompt
	sent   bool         // the send key was pressed once; a quick reason needs it twice
	scope  string       // scope in which the reason is remembered; "": only this time
}

// start returns the editor for the reason. letter is the key that opened it, or "".
func (r *reason) start(letter string, now time.Time) *edit.Editor {
	if r.editor == nil {
		r.editor = edit.New()
	}
	r.letter, r.since, r.quick, r.sent = letter, now, false, false
	return r.editor
}

// typed records a key other than the send key; text tells whether the key types text.
func (r *reason) typed(text bool, now time.Time) {
	r.sent = false
	r.quick = r.quick || text && r.letter != "" && r.editor.Empty() && now.Sub(r.since) < LetterPause
}

// confirmed handles the send key and reports whether the reason is sent. If the text may have been meant for the
// prompt, the key is needed twice, the second time after a pause.
func (r *reason) confirmed(gap time.Duration) bool {
	if !r.quick || r.sent && gap >= LetterPause {
		return true
	}
	r.sent = true
	return false
}

func (r *reason) text() string { return strings.TrimSpace(r.editor.Text()) }

// denial returns the answer that denies a request. If the reason can be remembered, which scopes lists the choices for,
// the answer says where.
func (r *reason) denial(id string, scopes []string) event.AnswerApproval {
	c := event.AnswerApproval{ID: id, Decision: event.Deny, Reason: r.text()}
	if c.Reason != "" && len(scopes) > 0 {
		c.Remember = cmp.Or(r.scope, event.RememberNothing)
	}
	return c
}

// next returns the scope after the present one, or "" (only this time) after the last one.
func (r *reason) next(scopes []string) string {
	if i := slices.Index(scopes, r.scope) + 1; i < len(scopes) {
		return scopes[i]
	}
	return ""
}

// choose selects the next scope. It ignores the key if the user seems to be typing a prompt: in a quick reason, without
// a pause before the key.
func (r *reason) choose(scopes []string, gap time.Duration) {
	if r.quick && gap < LetterPause {
		return
	}
	r.sent, r.scope = false, r.next(scopes)
}

// DropQuickReason removes a reason that may have been meant for the prompt, and returns it with the letter that started
// it. quick is false if there was no such reason.
func (a *Approval) DropQuickReason() (text string, quick bool) {
	if !a.reason.quick {
		return "", false
	}
	text = a.reason.letter + a.reason.editor.Text()
	a.typing, a.reason = nil, reason{}
	return text, true
}

// UnsentReason returns the reason being typed, or "" if there is none or it was sent.
func (a *Approval) UnsentReason() string {
	if a.typing == nil || a.amend.typing || a.shown.answered || a.reason.editor == nil {
		return ""
	}
	text := a.reason.editor.Text()
	if a.reason.quick {
		text = a.reason.letter + text
	}
	return text
}

// drawTyping draws the reason being typed, the note about remembering it, and the keys.
func (a *Approval) drawTyping(in draw.Area) {
	label := []draw.Span{draw.Text(themes.Accent, "  No, because: ")}
	if draw.Width(label) > in.W/2 {
		label = []draw.Span{draw.Text(themes.Accent, "> ")}
	}
	kept := a.reason.rows(a.Keys, a.asked.Context.Memory, in.W)
	kept = draw.AtMost(kept, max(0, min(len(kept), in.H-2)), in.W)
	a.typing.SetWidth(edit.Room(in.W, label))
	text := draw.Area{Canvas: in.At(in.Spans(0, label...)), H: max(1, in.H-1-len(kept))}
	in = in.Below(edit.Draw(text, a.typing, a.HasFocus()))
	in.Rows(kept)
	if in = in.Below(len(kept)); in.H > 0 {
		in.At(bodyIndent).Spans(0, draw.HintRow(a.reason.hints(a.Keys), in.W-bodyIndent)...)
	}
}

// rows describes how the reason will be remembered, or offers to remember it. Without scopes it returns no rows.
func (r *reason) rows(keys *keymap.Map, m action.Memory, w int) [][]draw.Span {
	if len(m.Scopes) == 0 {
		return nil
	}
	var rows [][]draw.Span
	add := func(spans ...draw.Span) {
		for _, row := range draw.WrapSentence(spans, w-bodyIndent) {
			rows = append(rows, append([]draw.Span{draw.Text(themes.Text, "  ")}, row...))
		}
	}
	if r.scope != "" {
		text := "Remembers " + scopeWords[r.scope]
		if m.Only != "" {
			text += ", on " + m.Only + " only"
		}
		taught := cmp.Or(action.Taught(m.Begins, r.text()), "nothing yet: type a reason")
		add(append(draw.Untrusted(themes.Accent, text+": "), draw.Untrusted(themes.Strong, taught)...)...)
	}
	if tab := keys.Keys(keymap.ReasonRemember); len(tab) > 0 {
		offer := "don't save this reason"
		if next := r.next(m.Scopes); next != "" {
			offer = "remember this " + scopeWords[next]
		}
		add(draw.Clickable(tab[0], draw.Text(themes.Key, tab[0].String()), draw.Text(themes.Muted, ": "+offer))...)
	}
	return rows
}

// scopeWords maps the scopes of a reason to their descriptions.
var scopeWords = map[string]string{"folder": "for this project", "person": "in all your projects", "team": "for the team"}

// hints returns the keys of a reason.
func (r *reason) hints(m *keymap.Map) []draw.Hint {
	hints := draw.HintsOf(m, keymap.Reason)
	send, back, keep := m.Keys(keymap.ReasonSend), m.Keys(keymap.ReasonBack), m.Keys(keymap.ReasonRemember)
	is := func(h draw.Hint, keys []keymap.Key) bool { return len(keys) > 0 && h.Key == keys[0] }
	hints = slices.DeleteFunc(hints, func(h draw.Hint) bool { return is(h, keep) }) // this key has its own row
	for i, h := range hints {
		switch {
		case is(h, send):
			hints[i].Label, hints[i].Keep = r.sends(), h.Keep || r.scope != "" && !r.quick
		case is(h, back):
			hints[i].Label = cmp.Or(r.backs(), h.Label)
		}
	}
	return hints
}

// sends describes the effect of the send key.
func (r *reason) sends() string {
	switch {
	case r.quick && !r.sent:
		return "twice: deny"
	case r.quick:
		return "again: deny"
	case r.text() == "":
		return "deny without a reason"
	case r.scope != "":
		return "deny and remember the reason"
	}
	return "tell the agent"
}

// backs describes the effect of the back key, or returns "" for its usual one.
func (r *reason) backs() string {
	if r.quick {
		return "move the text to your prompt, with the " + r.letter
	}
	return ""
}
