package review

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"buddy/agent/event"
	"buddy/texts"
)

// Limits of what is taken over of an answer.
const (
	maxAnswer   = 1 << 20 // bytes of it that are read: the last ones
	maxFindings = 200
	maxText     = 2000 // bytes of what a finding says, and of its fix
	maxPath     = 500
	maxStarts   = 1000 // places where a document may begin that are tried
)

// errNothing says why an answer can't be read.
var errNothing = errors.New("the answer has no findings that can be read, and does not say that there are none")

// Parse reads the findings of an answer, the worst first. The answer may have other text around the JSON, a
// code fence, or several documents: the last one with findings counts. An answer that ends in the middle
// gives the findings before that, and an error.
func Parse(answer string) ([]event.Finding, error) {
	if len(answer) > maxAnswer {
		answer = strings.ToValidUTF8(answer[len(answer)-maxAnswer:], "")
	}
	if whole := []byte(texts.Unfenced(answer)); bytes.HasPrefix(whole, []byte("[")) {
		var list []rawFinding
		if json.Unmarshal(whole, &list) == nil { // an empty list means nothing unless it is all that was said
			return finish(list), nil
		}
	}
	found, empty, cut := documents(answer)
	switch {
	case cut:
		return finish(found), errors.New("the answer breaks off in the middle of its findings")
	case len(found) > 0 || empty:
		return finish(found), nil
	}
	return nil, errNothing
}

// documents returns the findings of the last document that has some; whether there was one that says
// there are none, and whether the last one breaks off.
func documents(answer string) (found []rawFinding, empty, cut bool) {
	starts := 0
	for at := 0; at < len(answer); {
		i := strings.IndexAny(answer[at:], "{[")
		if i < 0 || starts == maxStarts {
			break
		}
		starts++
		at += i
		list, size, ok, broken := document(answer[at:])
		if !ok {
			at++
			continue
		}
		at += max(size, 1)
		if len(list) > 0 {
			found = list
		}
		empty, cut = empty || !broken, broken
	}
	return found, empty, cut
}

// document reads the findings at the beginning of a text: an object with a list of them, or such a list
// with findings in it. broken means that the text ends before it does.
func document(text string) (list []rawFinding, size int, ok, broken bool) {
	d := json.NewDecoder(strings.NewReader(text))
	if text[0] == '[' {
		err := d.Decode(&list)
		return list, int(d.InputOffset()), err == nil && slices.ContainsFunc(list, rawFinding.says), false
	}
	var whole struct {
		Findings *json.RawMessage `json:"findings"`
	}
	if err := d.Decode(&whole); err == nil {
		if whole.Findings == nil || json.Unmarshal(*whole.Findings, &list) != nil {
			return nil, 0, false, false
		}
		return list, int(d.InputOffset()), true, false
	}
	list, ok = beginning(text)
	return list, len(text), ok, ok
}

// beginning reads the findings of a document that breaks off.
func beginning(text string) (list []rawFinding, ok bool) {
	d := json.NewDecoder(strings.NewReader(text))
	for _, want := range []any{json.Delim('{'), "findings", json.Delim('[')} {
		if got, err := d.Token(); err != nil || got != want {
			return nil, false
		}
	}
	for d.More() {
		var one rawFinding
		if err := d.Decode(&one); err != nil {
			return list, errors.Is(err, io.ErrUnexpectedEOF)
		}
		list = append(list, one)
	}
	_, err := d.Token()
	return list, err != nil // with the end of the list it is another kind of mistake
}

// rawFinding is a finding with the fields by the names that models give them, whatever their types.
type rawFinding map[string]json.RawMessage

// UnmarshalJSON takes what is no object as a finding without fields: others may be in order.
func (r *rawFinding) UnmarshalJSON(data []byte) error {
	var fields map[string]json.RawMessage
	if json.Unmarshal(data, &fields) != nil {
		fields = map[string]json.RawMessage{}
	}
	*r = fields
	return nil
}

// says reports whether the finding says anything.
func (r rawFinding) says() bool {
	return r.text("what", "text", "message", "title", "description") != ""
}

// text returns the first of some fields that is there, on one line.
func (r rawFinding) text(names ...string) string {
	return texts.ClipBytes(texts.OneLine(r.raw(names...)), maxText)
}

// fix returns the fix on one line; a diff keeps its lines.
func (r rawFinding) fix() string {
	text := strings.ReplaceAll(texts.Unfenced(r.raw("fix", "suggestion", "smallest_fix")), "\r\n", "\n")
	if !strings.Contains(text, "\n@@ ") {
		text = texts.OneLine(text)
	}
	return texts.ClipBytes(text, maxText)
}

// raw returns the first of some fields that says anything, as it was written.
func (r rawFinding) raw(names ...string) string {
	for _, name := range names {
		raw, ok := r[name]
		if !ok {
			continue
		}
		var s string
		if json.Unmarshal(raw, &s) != nil {
			s = strings.Trim(string(raw), `"`)
		}
		if one := texts.OneLine(s); one != "" && one != "null" {
			return s
		}
	}
	return ""
}

// finish turns what was read into findings, each once, the worst first.
func finish(list []rawFinding) []event.Finding {
	var all []event.Finding
	for _, r := range list {
		f := r.finding()
		if f.Text == "" || slices.Contains(all, f) || len(all) == maxFindings {
			continue
		}
		all = append(all, f)
	}
	slices.SortStableFunc(all, func(a, b event.Finding) int { return a.Severity.Rank() - b.Severity.Rank() })
	return all
}

// place matches a file with a line, as it is written with a colon.
var place = texts.Regexp(`^(.+?):(\d+)(?:[:-]\d+)*$`)

func (r rawFinding) finding() event.Finding {
	f := event.Finding{
		Text: r.text("what", "text", "message", "title", "description"),
		Fix:  r.fix(),
		File: texts.ClipBytes(r.text("file", "path"), maxPath),
	}
	f.Severity, f.Stated = severity(r.text("severity", "priority", "level"))
	line := r.text("line", "start_line", "lines")
	if m := place().FindStringSubmatch(f.File); m != nil {
		f.File = m[1]
		if line == "" {
			line = m[2]
		}
	}
	line, _, _ = strings.Cut(strings.TrimLeft(line, "[L "), "-")
	line, _, _ = strings.Cut(line, ",")
	if n, err := strconv.ParseFloat(strings.TrimRight(line, "] "), 64); err == nil && n >= 1 && n <= 1<<30 {
		f.Line = int(n)
	}
	if f.File = strings.ReplaceAll(f.File, `\`, "/"); f.File != "" {
		f.File = path.Clean(f.File)
	}
	return f
}

// severities are the words of models for severities.
var severities = map[string]event.Severity{
	"critical": event.SeverityCritical, "blocker": event.SeverityCritical, "p0": event.SeverityCritical, "0": event.SeverityCritical,
	"high": event.SeverityHigh, "major": event.SeverityHigh, "error": event.SeverityHigh, "p1": event.SeverityHigh, "1": event.SeverityHigh,
	"medium": event.SeverityMedium, "moderate": event.SeverityMedium, "warning": event.SeverityMedium, "p2": event.SeverityMedium, "2": event.SeverityMedium,
	"low": event.SeverityLow, "minor": event.SeverityLow, "info": event.SeverityLow, "nit": event.SeverityLow, "p3": event.SeverityLow, "3": event.SeverityLow,
}

// severity returns the severity of a word, and the word if it is not understood.
func severity(word string) (event.Severity, string) {
	if s, ok := severities[strings.ToLower(strings.Trim(word, " []*"))]; ok {
		return s, ""
	}
	return event.SeverityUnknown, texts.ClipBytes(word, 40)
}
