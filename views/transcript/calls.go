package transcript

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/app/state"
	"buddy/texts"
	"buddy/texts/ansi"
	"buddy/themes"
	"buddy/views/draw"
	"buddy/views/markup"
	"buddy/views/words"
)

// layCall updates the head and the body of a call.
func (l *laidBlock) layCall(c *state.Call, cwd string, with *shared) {
	if l.seen < 0 {
		l.seen = 0
		l.gain = callGain(c)
		l.much = strings.HasSuffix(l.gain, cmp.Or(printedMuch(c), "\n"))
		l.head = callHead(c, cwd, themes.ToolName)
		if c.Denied != "" {
			l.head = append(append(l.head, draw.Text(themes.Muted, " · ")), draw.Untrusted(themes.Warning, texts.OneLine(c.Denied))...)
		}
		if l.fold == unfolded {
			l.parts = append(l.parts, part{text: callDetails(c)})
			l.parts[0].layout.Wrap(l.parts[0].text, l.width-gutterWidth, 0)
		}
		excerpt := l.fold == foldAuto && changed(c)
		if excerpt || l.fold == unfolded && changes(c) {
			l.layChange(c, with)
		}
		if l.fold == unfolded && printedDiff(c) {
			l.addDiff(markup.NewDiff(string(c.Output.Buf), markup.DiffView{}), with)
			return
		}
		if l.fold != folded && !excerpt {
			l.output = &tailText{}
			l.parts = append(l.parts, part{})
		}
	}
	if l.output == nil {
		return
	}
	l.output.lay(&l.parts[len(l.parts)-1], c, l.width-gutterWidth)
	if l.fold == foldAuto {
		l.skip = max(len(l.parts[0].layout.Rows)-excerptRows, 0)
	}
}

// printedDiff reports whether the complete output of a command is a diff.
func printedDiff(c *state.Call) bool {
	return c.State == state.CallDone && c.Output.Dropped == 0 && markup.IsDiff(string(c.Output.Buf))
}

// wordsOf converts a call for package words. Paths below cwd are shown relative to it.
func wordsOf(c *state.Call, cwd string) words.Call {
	return words.Call{Name: c.Name, Arguments: c.Arguments, Action: c.Action, Cwd: cwd}
}

// callHead describes in one line what a call does, and its target if that is not the session's.
func callHead(c *state.Call, cwd string, role themes.Role) []draw.Span {
	verb, subject := wordsOf(c, cwd).Words()
	if verb != "" && subject != "" {
		verb += " "
	}
	head := append(draw.Untrusted(role, verb), draw.Untrusted(themes.Text, subject)...)
	if c.On != "" {
		head = append(head, draw.Untrusted(themes.Muted, draw.OnTarget(c.On))...)
	}
	return head
}

// works reports whether a call's subagent is working.
func works(c *state.Call) bool {
	return c != nil && c.Agent != nil && c.Agent.State != state.TaskDone
}

// unhappy reports whether a call's subagent ended without a result.
func unhappy(c *state.Call) bool {
	return c.Agent != nil && c.Agent.State == state.TaskDone && c.Agent.Outcome != event.Completed
}

func isQuestion(c *state.Call) bool { return c.Action.Tool == "ask_user" && c.Action.Preview != "" }

// asks reports whether a call waits for the person's answer.
func asks(c *state.Call) bool {
	return c.State == state.CallRunning && (isQuestion(c) || c.Action.Tool == "exit_plan")
}

// questionFields returns a question and its numbered choices.
func questionFields(c *state.Call) []texts.Member {
	fields := fieldsOf(c.Action.Preview, "question")
	var args struct{ Choices []string }
	if json.Unmarshal([]byte(c.Arguments), &args) == nil {
		for i, text := range args.Choices {
			fields = append(fields, fieldsOf(text, strconv.Itoa(i+1))...)
		}
	}
	return fields
}

// callDetails returns the text above the output of an unfolded call.
func callDetails(c *state.Call) *markup.Text {
	t := &markup.Text{}
	a := &c.Action
	if a.Why != "" {
		label(t, "why")
		t.Put(markup.Inline(a.Why), markup.Style{Role: themes.Emphasis})
	}
	putCorrections(t, c)
	putDecision(t, &c.Decision)
	switch {
	case a.Kind.IsCommand() && a.Command != "":
		command(t, a.Command)
	case isQuestion(c):
		putFields(t, questionFields(c))
	case changes(c):
		putFields(t, fieldsOf(a.Path, "path"))
	default:
		putFields(t, wordsOf(c, "").Details())
	}
	putFields(t, fieldsOf(c.Answered, "answered on"))
	return t
}

// putCorrections adds the names that the model wrote, if they were corrected.
func putCorrections(t *markup.Text, c *state.Call) {
	slips := c.Slips
	if c.Corrected != "" {
		slips = strings.TrimSuffix(c.Corrected+" → "+c.Name+", "+slips, ", ")
	}
	putFields(t, fieldsOf(texts.OneLine(slips), "corrected"))
}

// putDecision adds the reasons for a call and the rules that decided about the call. It omits the model's reason for
// the call, which callDetails adds.
func putDecision(t *markup.Text, d *event.DecisionExplained) {
	if d.From != event.FromWhy && d.From != event.FromPolicy { // the rules below have the policy's reason
		putFields(t, fieldsOf(texts.OneLine(d.Reasoning), "reason"))
	}
	if d.Confidence != "" {
		putFields(t, fieldsOf(texts.OneLine(d.Confidence)+d.Own(event.ComputedConfidence), "confidence"))
	}
	for _, a := range d.Alternatives {
		putFields(t, fieldsOf(texts.OneLine(a)+d.Own(event.ComputedAlternatives), "alternative"))
	}
	for _, r := range d.Rules {
		putFields(t, fieldsOf(texts.OneLine(r.Said()), "rule"))
	}
}

// command adds a shell command as typed at a prompt.
func command(t *markup.Text, text string) {
	prompt := "$ "
	for line := range strings.Lines(strings.TrimRight(text, "\n")) {
		t.Line(markup.Hard, "  ")
		t.Put(prompt, markup.Style{Role: themes.Muted})
		t.Put(strings.TrimRight(line, "\r\n"), markup.Style{Role: themes.Strong})
		prompt = "  "
	}
}

// callResult returns the result of a call without output.
func callResult(c *state.Call) *markup.Text {
	t := &markup.Text{}
	text := cmp.Or(c.Result, c.Outcome)
	if text == "" && c.ExitCode != nil {
		text = "no output"
	}
	putFields(t, fieldsOf(text, ""))
	return t
}

// paintCall draws the head of a call: glyph, name, action, outcome, time.
func paintCall(c draw.Canvas, call *state.Call, head []draw.Span, gain string, open bool, now int64) (drawn draw.Canvas) {
	glyph, role := callGlyph(call, open, now)
	outcome := cmp.Or(callOutcome(call), gain)
	elapsed := callTime(call, now)
	if gain != "" && call.Agent == nil && call.ExitCode == nil && (call.Duration < 100 || isQuestion(call)) {
		elapsed = "" // the gain is more useful than the time
	}
	c.Fill(0, c.W, c.Palette[themes.Text])
	if call.Agent != nil && outcome == gain && draw.Width(head) > c.W-draw.TextWidth(gain)-len(elapsed)-6 {
		outcome = "" // the task list shows it, too
	}
	right := draw.TextWidth(outcome) + len(elapsed)
	if outcome != "" && elapsed != "" {
		right += 2
	}
	col := c.Say(0, glyph+" ", role)
	room := c.W - col - right - 2
	if right == 0 {
		room = c.W - col
	}
	if room < 8 { // too narrow for more than the glyph and the head
		room, outcome, elapsed = c.W-col, "", ""
	}
	end := c.Spans(col, draw.Clip(head, room)...)
	drawn = c.Cols(col, end)
	end = c.W - len(elapsed)
	c.At(end).Say(0, elapsed, themes.Muted)
	if outcome != "" {
		if elapsed != "" {
			end -= 2
		}
		c.At(end-draw.TextWidth(outcome)).Say(0, outcome, outcomeRole(call, outcome == gain, role))
	}
	return drawn
}

// outcomeRole returns the role of a call's outcome. Counts of a subagent's work are muted, because its findings are in
// the conversation, and so is progress.
func outcomeRole(call *state.Call, counted bool, glyph themes.Role) themes.Role {
	if call.Agent != nil && counted || call.State == state.CallRunning {
		return themes.Muted
	}
	return glyph
}

func callGlyph(c *state.Call, open bool, now int64) (glyph string, r themes.Role) {
	if works(c) || unhappy(c) {
		g, r, _ := draw.TaskState(c.Agent, time.UnixMilli(now))
		return g, r
	}
	if asks(c) {
		return draw.WaitingSign, themes.Warning
	}
	switch c.State {
	case state.CallWaiting:
		return draw.WaitingSign, themes.Warning
	case state.CallRunning, state.CallTrying:
		return draw.Spinner(now), themes.Running
	case state.CallFailed:
		return "✗", themes.ToolError
	case state.CallDenied, state.CallCancelled, state.CallLeft:
		return "⊘", themes.Warning
	case state.CallDone:
		switch {
		case open:
			return "▾", themes.ToolOK
		case wordsOf(c, "").Changes():
			return "✎", themes.ToolOK
		case c.Agent != nil, c.ExitCode != nil:
			return "✔", themes.ToolOK
		}
		return "▸", themes.ToolOK
	}
	return "▹", themes.Muted
}

// callOutcome returns the outcome of a call in words, "" for a success.
func callOutcome(c *state.Call) string {
	switch {
	case unhappy(c):
		_, _, word := draw.TaskOutcome(c.Agent)
		return draw.Shorten(markup.Inline(texts.OneLine(word)), maxGain)
	case c.State == state.CallWaiting: // a dialog names the missing decision
		return ""
	case c.State == state.CallRunning:
		return callProgress(c)
	case c.State == state.CallTrying:
		return "trial run, no changes are kept"
	case c.State == state.CallDenied:
		return "denied"
	case c.State == state.CallLeft:
		return "interrupted when buddy ended"
	case c.State == state.CallCancelled:
		return cancelled(c)
	case c.State == state.CallFailed && c.Started == 0 && len(c.Output.Buf) == 0:
		return "not run"
	case c.Stopped():
		return "interrupted"
	case c.State == state.CallFailed && c.ExitCode != nil:
		return fmt.Sprintf("exit %d", *c.ExitCode)
	case c.State == state.CallFailed:
		return "failed"
	}
	return ""
}

// maxProgress limits the columns of a call's progress.
const maxProgress = 32

// callProgress returns the last line that the server of a running call has reported, "" for other calls.
func callProgress(c *state.Call) string {
	if c.Action.Kind != action.MCP {
		return ""
	}
	lines := bytes.TrimRight(c.Output.Buf, "\n")
	last := string(lines[bytes.LastIndexByte(lines, '\n')+1:])
	return draw.Shorten(markup.Inline(ansi.Strip(last)), maxProgress)
}

// cancelled describes a call that was cancelled before it ran.
func cancelled(c *state.Call) string {
	if isQuestion(c) {
		return "not answered (cancelled)"
	}
	return "not run (cancelled)"
}

// callGain describes the result of a successful call in a few words, if possible.
func callGain(c *state.Call) string {
	if c.Agent != nil && c.Agent.State == state.TaskDone {
		return texts.Plural(c.Agent.Turns, "turn") + " · " + draw.Used(state.Used{Usage: c.Agent.All.Usage}, true)
	}
	if c.State != state.CallDone {
		return ""
	}
	gain := cmp.Or(markup.Inline(wordsOf(c, "").Outcome(c.Outcome)), printedMuch(c))
	if c.ExitCode == nil {
		return gain
	}
	return texts.WithNext(fmt.Sprintf("exit %d", *c.ExitCode), gain)
}

// printedMuch describes the amount of a command's output; "" if it fits into the excerpt that a failed command would
// show.
func printedMuch(c *state.Call) string {
	if !c.Action.Kind.IsCommand() || c.Terminal {
		return ""
	}
	text, whole := string(c.Output.Buf), int64(len(c.Output.Buf))+c.Output.Dropped
	if text == "" {
		text = c.Result
		whole = int64(len(text))
	}
	if c.Full != nil {
		whole = max(whole, c.Full.Shown())
	}
	n := strings.Count(strings.TrimRight(text, "\n"), "\n") + 1
	switch {
	case whole > int64(len(text)):
		return texts.ByteCount(whole)
	case n > excerptRows:
		return texts.Plural(n, "line")
	}
	return ""
}

// progress describes a subagent's last action and its usage. Paths below cwd are shown relative to it.
func progress(t *state.Task, cwd string) string {
	text := "starting"
	for _, b := range slices.Backward(t.Agent.Talk.Blocks) {
		if b.Call != nil {
			text = draw.Shorten(wordsOf(b.Call, cwd).Line(), maxDoing)
			break
		}
	}
	if t.Turns > 0 {
		text += " · " + texts.Plural(t.Turns, "turn")
	}
	if used := draw.Used(t.All, true); used != "" {
		text += " · " + used
	}
	return text
}

// maxDoing limits the columns of a subagent's last action.
const maxDoing = 40

// agentTime returns the working time of a subagent, so far or in total.
func agentTime(t *state.Task, now int64) string {
	switch {
	case t.State != state.TaskDone && now > t.Started:
		return draw.Clock(now - t.Started)
	case t.State == state.TaskDone:
		return draw.Took(t.Ended - t.Started)
	}
	return ""
}

// maxGain limits the columns of a call's gain.
const maxGain = 24

// callTime returns the running time of a call, so far or in total.
func callTime(c *state.Call, now int64) string {
	switch {
	case c.Agent != nil:
		return agentTime(c.Agent, now)
	case asks(c):
		return "" // the time depends on the person
	case (c.State == state.CallRunning || c.State == state.CallTrying) && now > c.Started:
		return draw.Clock(now - c.Started)
	case c.State == state.CallDone || c.State == state.CallFailed:
		return draw.Took(c.Duration)
	}
	return ""
}
