package tools

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"buddy/agent/action"
	"buddy/agent/model"
)

//go:embed edit_file.md
var editFileText string

type editArgs struct {
	Path       string `json:"path" desc:"absolute, or relative to the workspace"`
	OldString  string `json:"old_string" blank:"ok"`
	NewString  string `json:"new_string" blank:"ok"`
	ReplaceAll bool   `json:"replace_all,omitempty"`
	Why        string `json:"why" desc:"reason, shown to the user"`
}

type editFile struct {
	ws  *Workspace
	def model.ToolDef
}

// NewEditFile returns the tool edit_file: it replaces exact text in a file. The model
// must have read or written the file in this session, and nobody may have changed it
// since: that is the safest rule, and it keeps the content of files that nobody
// allowed to be read out of the error messages.
func NewEditFile(ws *Workspace) Tool {
	return &editFile{ws, define[editArgs]("edit_file", editFileText)}
}

func (t *editFile) Definition() model.ToolDef { return t.def }

func (t *editFile) Plan(call Call) (action.Action, error) {
	args, err := decode[editArgs](call)
	if err != nil {
		return action.Action{}, err
	}
	switch args.OldString {
	case "":
		return action.Action{}, invalid("old_string: must not be empty; write_file creates a file")
	case args.NewString:
		return action.Action{}, invalid("new_string: the same as old_string, nothing would change")
	}
	path, err := t.ws.resolve(args.Path)
	if err != nil {
		return action.Action{}, err
	}
	old, edited, _, err := t.apply(path, args)
	if err != nil {
		return action.Action{}, failed(err)
	}
	return t.ws.planWrite(t.def.Name, path, args.Why, old, []byte(edited)), nil
}

func (t *editFile) Run(_ context.Context, call Call) Result {
	args, err := decode[editArgs](call)
	if err != nil {
		return failure(err)
	}
	path, err := plannedPath(call)
	if err != nil {
		return failure(err)
	}
	t.ws.writing.Lock()
	defer t.ws.writing.Unlock()
	old, edited, count, err := t.apply(path, args)
	if err != nil {
		return failure(err)
	}
	if err := t.ws.put(call.Planned, old, []byte(edited)); err != nil {
		return failure(err)
	}
	text := fmt.Sprintf("Edited %s: 1 replacement", t.ws.show(path))
	if count > 1 {
		text = fmt.Sprintf("Edited %s: %d replacements", t.ws.show(path), count)
	}
	return success(donePayload{text}, text)
}

// apply reads the file at path and makes the replacement in memory.
func (t *editFile) apply(path string, args editArgs) (old snapshot, edited string, count int, err error) {
	name := t.ws.show(path)
	if old, err = snap(path); err != nil {
		return old, "", 0, err
	}
	if !old.exists {
		return old, "", 0, fmt.Errorf("%q does not exist; write_file creates it", name)
	}
	if !old.whole() {
		return old, "", 0, fmt.Errorf("%q has %d bytes, more than the %d that can be edited", name, old.size, maxText)
	}
	known, same := t.ws.check(path, old.data)
	if !known {
		return old, "", 0, fmt.Errorf("%q was not read in this session, nothing was written; read it first", name)
	}
	if !same {
		return old, "", 0, fmt.Errorf("%q %s", name, changedSinceRead)
	}
	edited, count, err = replace(string(old.data), args.OldString, args.NewString, args.ReplaceAll)
	if err != nil {
		return old, "", 0, fmt.Errorf("%q: %w", name, err)
	}
	return old, edited, count, nil
}

// replace puts after in the place of before in text: of its only occurrence, or of all.
// In a text whose lines end in CRLF, the line ends of both are made so too.
func replace(text, before, after string, all bool) (string, int, error) {
	if usesCRLF(text) {
		if b := toCRLF(before); strings.Contains(text, b) {
			before, after = b, toCRLF(after)
		}
	}
	at := occurrences(text, before)
	switch {
	case len(at) == 0:
		return "", 0, notFound(text, before)
	case all:
		return strings.ReplaceAll(text, before, after), strings.Count(text, before), nil
	case len(at) > 1:
		return "", 0, fmt.Errorf("old_string occurs %s times, at lines %s; add lines around it, or set replace_all",
			atMost(len(at), maxOccurrences), lineNumbers(text, at))
	default:
		return text[:at[0]] + after + text[at[0]+len(before):], 1, nil
	}
}

// usesCRLF reports whether most lines of text end in CRLF.
func usesCRLF(text string) bool {
	return 2*strings.Count(text, "\r\n") > strings.Count(text, "\n")
}

func toCRLF(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\n", "\r\n")
}

// maxOccurrences is how many occurrences are told apart.
const maxOccurrences = 1000

// occurrences returns where sub begins in text, overlapping ones too, which make an
// edit ambiguous as well.
func occurrences(text, sub string) []int {
	var at []int
	for from := 0; len(at) < maxOccurrences; {
		i := strings.Index(text[from:], sub)
		if i < 0 {
			break
		}
		at = append(at, from+i)
		from += i + 1
	}
	return at
}

func atMost(n, limit int) string {
	if n >= limit {
		return fmt.Sprintf("at least %d", limit)
	}
	return fmt.Sprint(n)
}

// lineNumbers lists the lines of some offsets, the first ten.
func lineNumbers(text string, at []int) string {
	var list []string
	line, from := 1, 0
	for i, offset := range at {
		if i == 10 {
			list = append(list, "…")
			break
		}
		line += strings.Count(text[from:offset], "\n")
		from = offset
		list = append(list, fmt.Sprint(line))
	}
	return strings.Join(list, ", ")
}
