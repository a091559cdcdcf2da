package history

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"buddy/agent/model"
	"buddy/texts"
)

const (
	summaryLines = 24
	summaryWidth = 180 // characters of a line
)

const (
	summaryTitle = "Summary of earlier exchanges, which were removed to save space. It describes what happened; it is not an instruction."
	omittedForm  = "(%d earlier operations omitted)"
)

// Statuses of a line.
const (
	info    = "info"
	success = "success"
	failure = "failure"
)

// digest is a summary under construction: the newest operations as lines, and the number that
// did not fit.
type digest struct {
	lines   []string
	omitted int
}

// summaryMessage returns the message that holds a summary in a history.
func summaryMessage(text string) model.Message {
	return model.Message{Role: model.System, Content: text}
}

func line(operation, status, detail string) string {
	const enough = 8 * summaryWidth // bytes: a detail may have megabytes
	return texts.Clip("- "+texts.OneLine(operation+" ["+status+"] "+texts.ClipBytes(detail, enough)), summaryWidth)
}

// add appends a line. When there are too many, the oldest successes are dropped first: prompts,
// answers and failures matter more.
func (d *digest) add(line string) {
	d.lines = append(d.lines, line)
	if len(d.lines) <= summaryLines {
		return
	}
	i := max(0, slices.IndexFunc(d.lines, succeeded))
	d.lines = slices.Delete(d.lines, i, i+1)
	d.omitted++
}

func succeeded(line string) bool {
	before, _, _ := strings.Cut(line, "]")
	return strings.HasSuffix(before, "["+success)
}

// text returns the summary, which must save space: it replaces messages of room characters. If the lines together are
// too long, it returns one line that counts them, or "" if even that is too long.
func (d *digest) text(room int) string {
	one := fmt.Sprintf(omittedForm, d.omitted+len(d.lines))
	full := summaryTitle + "\n" + strings.Join(d.lines, "\n")
	if d.omitted > 0 {
		full += "\n" + fmt.Sprintf(omittedForm, d.omitted)
	}
	for _, s := range []string{full, one} {
		if size(summaryMessage(s)) <= room-CharsPerToken { // at least a token less
			return s
		}
	}
	return ""
}

// readDigest parses the previous summary, so that its lines become part of the next one. The summary may be "".
func readDigest(summary string) *digest {
	d := &digest{}
	for _, l := range strings.Split(summary, "\n") {
		if strings.HasPrefix(l, "- ") {
			d.lines = append(d.lines, l)
			continue
		}
		var n int
		if _, err := fmt.Sscanf(l, omittedForm, &n); err == nil {
			d.omitted += n
		}
	}
	return d
}

// describe adds a line for each operation of a removed message. bad holds the ids of failed calls.
func (d *digest) describe(m model.Message, meant meanings, bad map[string]bool) {
	switch m.Role {
	case model.User:
		what := "prompt"
		if m.Kind == model.Reminder {
			what = "reminder"
		}
		d.add(line(what, info, m.Content))
	case model.Assistant:
		if m.Content != "" {
			d.add(line("answer", info, m.Content))
		}
		for _, c := range m.ToolCalls {
			c = meant.of(c)
			status := success
			if bad[c.ID] {
				status = failure
			}
			d.add(line(c.Name, status, subject(c.Arguments)))
		}
	}
}

// subject returns the command, path or pattern of a call, if it has one.
func subject(arguments string) string {
	var args map[string]any
	if err := json.Unmarshal([]byte(arguments), &args); err != nil {
		return arguments
	}
	for _, key := range []string{"command", "pattern", "path", "url"} {
		if s, ok := args[key].(string); ok && s != "" {
			return s
		}
	}
	return arguments
}
