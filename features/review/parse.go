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

// Limits of an answer.
const (
	maxAnswer   = 1 << 20 // bytes read from its end
	maxFindings = 200
	maxText     = 2000 // bytes of a finding's text, and of its fix
	maxPath     = 500
	maxStarts   = 1000 // tried starts of a document
)

// errNothing is returned for an answer without readable findings.
var errNothing = errors.New("can't read the answer, because it has neither findings in the expected format nor an empty list")

// Parse reads the findings of an answer, most severe first. The JSON may be surrounded by text or a code fence; of
// several documents the last one with findings is used. A truncated answer returns the complete findings and an error.
func Parse(answer string) ([]event.Finding, error) {
	if len(answer) > maxAnswer {
		answer = strings.ToValidUTF8(answer[len(answer)-maxAnswer:], "")
	}
	if whole := []byte(texts.Unfenced(answer)); bytes.HasPrefix(whole, []byte("[")) {
		var list []rawFinding
		if json.Unmarshal(whole, &list) == nil { // an empty list counts only as the whole answer
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

// documents returns the findings of the last document that has some, whether a document states that there are none, and
// whether the last document is truncated.
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

// document parses the findings at the start of a text: an object with a list of findings, or such a list. broken means
// that the text is truncated.
func document(text string) (list []rawFinding, size int, ok, broken bool) {
	d := json.NewDecoder(strings.NewReader(text))
	if text[0] == '[' {
		err := d.Decode(&list)
		return list, int(d.InputOffset()), err == nil && slices.ContainsFunc(list, rawFinding.hasText), false
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

// beginning parses the findings of a truncated document.
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
	return list, err != nil // if the list has an end, the document has another mistake
}

// rawFinding is a finding with the fields and types that the model chose.
type rawFinding map[string]json.RawMessage

// UnmarshalJSON accepts anything but an object as an empty finding, so that the other findings can be used.
func (r *rawFinding) UnmarshalJSON(data []byte) error {
	var fields map[string]json.RawMessage
	if json.Unmarshal(data, &fields) != nil {
		fields = map[string]json.RawMessage{}
	}
	*r = fields
	return nil
}

// hasText reports whether the finding has a text.
func (r rawFinding) hasText() bool {
	return r.text("what", "text", "message", "title", "description") != ""
}

// text returns the first nonempty field among names, on one line.
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

// raw returns the first nonempty field among names, unchanged.
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

// finish converts findings, drops duplicates and sorts them, most severe first.
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

// place matches FILE:LINE.
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

// severities maps the words of models to severities.
var severities = map[string]event.Severity{
	"critical": event.SeverityCritical, "blocker": event.SeverityCritical, "p0": event.SeverityCritical, "0": event.SeverityCritical,
	"high": event.SeverityHigh, "major": event.SeverityHigh, "error": event.SeverityHigh, "p1": event.SeverityHigh, "1": event.SeverityHigh,
	"medium": event.SeverityMedium, "moderate": event.SeverityMedium, "warning": event.SeverityMedium, "p2": event.SeverityMedium, "2": event.SeverityMedium,
	"low": event.SeverityLow, "minor": event.SeverityLow, "info": event.SeverityLow, "nit": event.SeverityLow, "p3": event.SeverityLow, "3": event.SeverityLow,
}

// severity returns the severity for a word, and the word itself if it is unknown.
func severity(word string) (event.Severity, string) {
	if s, ok := severities[strings.ToLower(strings.Trim(word, " []*"))]; ok {
		return s, ""
	}
	return event.SeverityUnknown, texts.ClipBytes(word, 40)
}
