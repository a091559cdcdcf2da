package dialog

import (
	"fmt"
	"strings"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/themes"
	"buddy/views/draw"
	"buddy/views/words"
)

// what says who does something, and where.
func what(act action.Action) []draw.Span {
	who := draw.Untrusted(themes.ToolName, words.Title(act))
	where := act.Target
	if n := len(act.Targets); n > 0 {
		where = fmt.Sprintf("%d targets", n) // the body names them, however many there are
	}
	if where != "" {
		who = append(append(who, draw.Text(themes.Muted, " on ")), draw.Untrusted(themes.Strong, where)...)
	}
	return who
}

// head says who wants what where, and the risk: at the right, or below if both do not fit.
func (a *Approval) head(w int) [][]draw.Span {
	who, risk := what(a.asked.Action), a.risk(a.asked.Action)
	if gap := w - draw.Width(who) - draw.Width(risk); gap > 0 {
		return [][]draw.Span{append(append(who, draw.Text(themes.Text, strings.Repeat(" ", gap))), risk...)}
	}
	rows := draw.WrapWhole(who, w)
	rows = rows[:min(len(rows), 2)]
	if len(risk) > 0 {
		rows = append(rows, risk)
	}
	return rows
}

// risk says in words what the policy knows of the danger.
func (a *Approval) risk(act action.Action) []draw.Span {
	if a.amend.done {
		return []draw.Span{draw.Text(themes.Accent, "edited by you")}
	}
	role := themes.Muted
	if r := a.asked.Context.Risk; r != "" {
		act.Risk = r
	}
	switch act.Risk {
	case action.High:
		role = themes.Error
	case action.Medium:
		role = themes.Warning
	}
	var said []string
	if act.Risk != "" {
		said = append(said, "risk "+string(act.Risk))
	}
	if act.Mutation || a.asked.Context.Mutation {
		said = append(said, "changes")
	}
	if act.Privesc || a.asked.Context.Privesc {
		said = append(said, "privileged")
	}
	return draw.Untrusted(role, strings.Join(said, " · "))
}

const maxNote = 4096 // bytes of one note that are looked at

// The notes, in their order. Each stands behind its name.
const (
	noteUnseen  = "new"
	noteWhy     = "why"
	noteChanged = "hook"
	noteSaid    = "you"
	noteNoted   = "note"
	noteFailed  = "last"
	noteDir     = "dir"
	noteRule    = "rule"
	noteLoses   = "lost"
	noteSimilar = "s"
	noteLike    = "like"
	noteDoes    = "does"
	noteUndo    = "undo"
	noteElse    = "else"
	noteKept    = "kept"
)

// explained are the notes that show only when they are asked for.
var explained = []string{noteDoes, noteUndo, noteElse, noteKept}

// notes returns what is known of the command: what would be lost, why, where, which rule, and all else if that is
// wanted; each has at most so many rows. wide says that the choices show the rule that would be added.
func (a *Approval) notes(w, most int, wide bool) [][][]draw.Span {
	names := []string{noteUnseen, noteLoses}
	if a.explain.on && !a.amend.done { // beside the command, which it is about
		names = append(names, explained...)
	}
	names = append(names, noteChanged, noteSaid, noteNoted, noteWhy, noteFailed, noteDir, noteRule)
	if a.amend.done { // the others are about what the model wrote
		names, wide = []string{noteDir}, true
	}
	if !wide {
		names = append(names, noteSimilar)
	}
	if !a.amend.done {
		names = append(names, noteLike)
	}
	var all [][][]draw.Span
	for _, name := range names {
		rows := noteRows(a.asked, name, w, most)
		if name == noteLoses || name == noteUnseen { // names of files need room
			rows = noteRows(a.asked, name, w, max(most, maxExplained))
		}
		if len(rows) > 0 {
			all = append(all, rows)
		}
	}
	return all
}

// noteRows is a note about what is asked, in at most so many rows.
func noteRows(asked event.ApprovalAsked, name string, w, most int) [][]draw.Span {
	text := noteText(asked, name)
	if text == "" {
		return nil
	}
	w -= noteIndent
	wrap := draw.WrapSentence
	if name == noteSimilar || name == noteDir {
		wrap = draw.WrapWhole // it is to be seen to the letter
	}
	rows := draw.AtMost(wrap(draw.Untrusted(themes.Text, text[:min(len(text), maxNote)]), w), most, w)
	for i, r := range rows {
		rows[i] = append([]draw.Span{draw.Text(themes.Muted, fmt.Sprintf("%-*s", noteIndent, name))}, r...)
		name = ""
	}
	return rows
}

// noteText returns what there is to say under the name of a note, "" for nothing.
func noteText(asked event.ApprovalAsked, name string) string {
	act, c := asked.Action, asked.Context
	switch name {
	case noteUnseen:
		return c.Unseen.Text()
	case noteWhy:
		return act.Why
	case noteSaid:
		return said(c.Memory)
	case noteNoted:
		return strings.Join(c.Memory.Noted, "; ")
	case noteFailed:
		return c.Failed
	case noteChanged:
		return c.Changed
	case noteDir:
		return folders(act)
	case noteRule:
		return ruleText(asked.Verdict)
	case noteSimilar:
		return c.Similar
	case noteLike:
		return c.Examples()
	case noteLoses:
		return strings.Join(c.Loses, "; ")
	case noteDoes:
		return strings.Join(c.Consequences, "; ")
	case noteUndo:
		return c.UndoText()
	case noteKept:
		return strings.Join(c.Kept, "; ")
	}
	return alternatives(c)
}

// said says what the person said before about such calls, "" for nothing.
func said(m action.Memory) string {
	if len(m.Said) == 0 {
		return ""
	}
	return "said: " + strings.Join(m.Said, "; ")
}

// ruleText says why a verdict is as it is, with the rule that decided if that says more.
func ruleText(v action.Verdict) string {
	if v.Rule != "" && v.Rule != v.Reason {
		return v.Reason + " (" + v.Rule + ")"
	}
	return v.Reason
}

// alternatives returns what else would do, or that nothing is known at all.
func alternatives(c action.ApprovalContext) string {
	if len(c.Alternatives) == 0 && len(c.Consequences) == 0 && c.Undo == "" && c.Reversible {
		return "nothing more is known"
	}
	return strings.Join(c.Alternatives, "; ")
}

const noteIndent = 5
