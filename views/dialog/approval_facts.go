package dialog

import (
	"strings"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/themes"
	"buddy/views/draw"
	"buddy/views/words"
)

const maxFact = 4096 // bytes of one fact that are shown

// heads returns the titles of the dialog's upper rule: the question on the left, risk and target on the right. Titles
// that do not fit into the rule become rows below it.
func (a *Approval) heads(w int) (t draw.Titles, head [][]draw.Span) {
	question, risk := questionOf(a), a.risk()
	t = draw.Titles{Left: a.titled(question), Right: risk}
	if draw.Width(t.Left)+draw.Width(t.Right)+titleRoom <= w {
		return t, nil
	}
	if t.Right, head = nil, draw.WrapWhole(risk, w); len(risk) == 0 {
		head = nil
	}
	if draw.Width(t.Left)+titleRoom > w && draw.Width(question)+titleRoom > w {
		t.Left = a.titled([]draw.Span{draw.Text(themes.Warning, "Approve?")})
		head = append(draw.WrapWhole(question, w), head...)
	}
	return t, head
}

const titleRoom = 7 // cells of a rule that its titles can't use

// questionOf returns the question, or a title for the text being typed.
func questionOf(a *Approval) []draw.Span {
	if a.typing != nil && a.amend.typing {
		return []draw.Span{draw.Text(themes.Accent, "Edit")}
	}
	text, counts := words.Question(a.asked)
	all := draw.Untrusted(themes.Warning, text)
	if counts != "" {
		added, deleted, _ := strings.Cut(counts, " ")
		all = append(all, draw.Text(themes.DiffAdd, "  "+added), draw.Text(themes.DiffDelete, " "+deleted))
	}
	return all
}

// risk describes the risk, and the target unless it is this machine.
func (a *Approval) risk() []draw.Span {
	if a.amend.done {
		return []draw.Span{draw.Text(themes.Accent, "edited by you")}
	}
	var all []draw.Span
	if risk := words.RiskOf(a.asked); risk != "" {
		role := themes.Muted
		switch risk {
		case action.High:
			role = themes.Error
		case action.Medium:
			role = themes.Warning
		case action.Low:
		}
		all = draw.Untrusted(role, string(risk)+" risk")
	}
	if where := words.Where(a.asked); where != "" {
		if len(all) > 0 {
			all = append(all, draw.Text(themes.Muted, " · "))
		}
		all = append(all, draw.Untrusted(themes.Strong, where)...)
	}
	return all
}

// facts returns the rows below the action: what the user must know about it, then the agent's reason. Both share a row
// if they fit into one; otherwise the reason has at most most rows. musts is the number of rows before those of the
// reason.
func (a *Approval) facts(w, most int) (rows [][]draw.Span, musts int) {
	if a.amend.done { // facts and reason are about the model's version
		return nil, 0
	}
	w -= bodyIndent
	fact := draw.Untrusted(themes.Text, clipped(strings.Join(words.Facts(a.asked), " ")))
	why := draw.Untrusted(themes.Muted, clipped(words.Reason(a.asked)))
	if gap := w - draw.Width(fact) - draw.Width(why); len(fact) > 0 && len(why) > 0 && gap >= factGap {
		return indented([][]draw.Span{append(append(fact, draw.Text(themes.Text, strings.Repeat(" ", gap))), why...)}), 1
	}
	if len(fact) > 0 {
		rows = draw.WrapSentence(fact, w)
	}
	musts = len(rows)
	if rule := ruleRows(a, w); len(rule) > 0 {
		rows, musts = append(rows, rule...), musts+len(rule)
	}
	if len(why) > 0 {
		rows = append(rows, draw.AtMost(draw.WrapSentence(why, w), most, w)...)
	}
	return indented(rows), musts
}

// ruleRows returns the rule that "don't ask again" would add, if the answers are shortened and so don't contain it.
func ruleRows(a *Approval, w int) [][]draw.Span {
	if a.asked.Context.Similar == "" || !a.short {
		return nil
	}
	return draw.WrapWhole(append([]draw.Span{draw.Text(themes.Muted, "2: ")}, draw.Untrusted(themes.Text, clipped(a.asked.Context.Similar))...), w)
}

func indented(rows [][]draw.Span) [][]draw.Span {
	for i, r := range rows {
		rows[i] = append([]draw.Span{draw.Text(themes.Text, strings.Repeat(" ", bodyIndent))}, r...)
	}
	return rows
}

const factGap = 4 // cells between a fact and the agent's reason in one row

// details returns the rows that ? opens: more information, and the letters of the answers.
func (a *Approval) details(w int) [][]draw.Span {
	if !a.explain.on || a.amend.done {
		return nil
	}
	rows := [][]draw.Span{nil}
	for _, text := range append(words.Details(a.asked), letters(a)) {
		rows = append(rows, indented(draw.WrapSentence(draw.Untrusted(themes.Text, clipped(text)), w-bodyIndent))...)
	}
	return rows
}

// clipped cuts a text to maxFact bytes.
func clipped(s string) string { return s[:min(len(s), maxFact)] }

// letters lists the answers' letters and their effects.
func letters(a *Approval) string {
	does := map[event.Decision]string{
		event.Once: "yes", event.Similar: "don't ask again", event.Try: "try it first", event.Keep: "keep this", event.Deny: "no, with a reason",
	}
	if a.asked.Context.Tried != nil {
		does[event.Once], does[event.Try], does[event.Deny] = "run it for real", "try it again", "throw it away, with a reason"
	}
	var all []string
	for _, one := range offered(a) {
		if name := a.Keys.Name(actionOf(a, one.Decision)); name != "" {
			all = append(all, name+" "+does[one.Decision])
		}
	}
	return "Letters: " + strings.Join(all, " · ")
}
