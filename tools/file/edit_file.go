package file

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"strings"

	"buddy/agent/action"
	"buddy/texts"
	"buddy/tools"
	"buddy/tools/fs"
)

//go:embed edit_file.md
var editFileText string

type editArgs struct {
	Path       string  `json:"path"`
	OldString  *string `json:"old_string,omitempty"`
	NewString  *string `json:"new_string,omitempty"`
	ReplaceAll bool    `json:"replace_all,omitempty"`
	Edits      []edit  `json:"edits,omitempty" max:"100"`
	Expected   int     `json:"expected_replacements,omitempty" schema:"-" min:"1"` // an argument of Gemini CLI
	Why        string  `json:"why,omitempty"`
}

// edit is one replacement.
type edit struct {
	OldString  string `json:"old_string" blank:"ok"`
	NewString  string `json:"new_string" blank:"ok"`
	ReplaceAll bool   `json:"replace_all,omitempty" schema:"-"`
}

// list returns all edits of a call: the one that the call's own arguments describe, then those in the argument edits.
func (a editArgs) list() ([]edit, error) {
	edits := a.Edits
	switch {
	case a.OldString != nil && a.NewString != nil:
		edits = append([]edit{{*a.OldString, *a.NewString, a.ReplaceAll || a.Expected > 1}}, edits...)
	case a.OldString != nil:
		return nil, tools.Invalid("new_string: missing, expected string")
	case a.NewString != nil || len(edits) == 0:
		return nil, tools.Invalid("old_string: missing, expected string")
	}
	for i, e := range edits {
		problem := ""
		switch e.OldString {
		case "":
			problem = "old_string: must not be empty; write_file creates a file"
		case e.NewString:
			problem = "new_string: the same as old_string, nothing would change"
		default:
			continue
		}
		return nil, tools.Invalid("%s%s", editName(edits, i), problem)
	}
	return edits, nil
}

// editName returns words that tell which of several edits caused an error, or "" for a single edit.
func editName(edits []edit, i int) string {
	if len(edits) == 1 {
		return ""
	}
	return fmt.Sprintf("edit %d of %d: ", i+1, len(edits))
}

type editFile struct {
	ws *Workspace
	tools.Typed[editArgs]
}

// NewEditFile returns the tool edit_file, which makes one or several replacements of exact text in a file, all or none.
// The model must have read or written the file in this session, and nobody may have changed it since.
func NewEditFile(ws *Workspace) tools.Tool {
	return tools.New(&editFile{ws: ws}, "edit_file", editFileText)
}

func (t *editFile) PlanArgs(args editArgs) (action.Action, error) { return t.PlanFor(0, args) }

// PlanFor returns the plan of an edit by a reader (see [tools.Call]).
func (t *editFile) PlanFor(reader int, args editArgs) (action.Action, error) {
	return t.ws.planRewrite(t.Name(), args.Path, args.Why, t.rewrite(reader, args))
}

func (t *editFile) RunArgs(ctx context.Context, call tools.Call, args editArgs) tools.Result {
	return t.ws.rewrite(ctx, call, args.Path, t.rewrite(call.Reader, args))
}

// rewrite returns the change described by args.
func (t *editFile) rewrite(reader int, args editArgs) rewrite {
	return func(ctx context.Context, w *Workspace, path string) (snapshot, []byte, string, error) {
		old, edited, count, err := applyEdits(ctx, w, reader, path, args)
		return old, edited, fmt.Sprintf("Edited %s: %s", w.show(path), texts.Plural(count, "replacement")), err
	}
}

// applyEdits reads the file at path and makes the replacements in memory.
func applyEdits(ctx context.Context, w *Workspace, reader int, path string, args editArgs) (old snapshot, data []byte, count int, err error) {
	name := w.show(path)
	edits, err := args.list()
	if err != nil {
		return old, nil, 0, err
	}
	if old, err = w.snapKnown(ctx, reader, path); err != nil {
		return old, nil, 0, err
	}
	doc := open(old.data)
	for i, e := range edits {
		n := 0
		if doc, n, err = doc.edit(path, e); err != nil {
			return old, nil, 0, fmt.Errorf("%q: %s%w", name, editName(edits, i), err)
		}
		count += n
	}
	if args.Expected > 0 && count != args.Expected {
		return old, nil, 0, fmt.Errorf("%q: old_string occurs %d times, expected_replacements is %d: nothing was written", name, count, args.Expected)
	}
	return old, doc.data, count, nil
}

// snapKnown reads a file for a partial change. It fails unless the reader has already read the file.
func (w *Workspace) snapKnown(ctx context.Context, reader int, path string) (snapshot, error) {
	old, err := w.snap(ctx, path)
	switch {
	case err != nil:
		return old, err
	case !old.exists:
		return old, fmt.Errorf("%q does not exist; %s", w.show(path), cmp.Or(didYouMean(w, alikes(ctx, w, path, path)), "write_file creates it"))
	case !old.whole():
		return old, fmt.Errorf("%q has %d bytes, more than the %d that can be edited", w.show(path), old.size, fs.MaxText)
	default:
		return old, w.mayReplace(reader, path, old)
	}
}

// replacements returns the parts of text that change when before is replaced by after. before must occur once; if all
// is set, every occurrence is replaced. In a text with CRLF line ends, lines are compared without their ends and keep
// them, unless before has carriage returns that occur in the text.
func replacements(text, before, after string, all bool) ([]part, error) {
	if given := strings.Contains(before+after, "\r") && strings.Contains(text, before); !given && strings.Contains(text, "\r\n") {
		own, bare := lineEnds(text)
		parts, err := find(bare, toLF(before), toLF(after), all)
		return own.parts(bare, parts), err
	} else if given && usesCRLF(text) && strings.Contains(before, "\r\n") {
		after = toCRLF(after)
	}
	return find(text, before, after, all)
}

// find does the work of replacements, but compares byte for byte only.
func find(text, before, after string, all bool) ([]part, error) {
	at := occurrences(text, before)
	switch {
	case len(at) == 0:
		return nil, notFound(text, before)
	case all:
		var parts []part
		for from := 0; ; {
			i := strings.Index(text[from:], before)
			if i < 0 {
				return parts, nil
			}
			parts = append(parts, part{from + i, from + i + len(before), after})
			from += i + len(before)
		}
	case len(at) > 1:
		return nil, fmt.Errorf("old_string occurs %s times, at lines %s; add lines around it, or set replace_all",
			atMost(len(at), maxOccurrences), lineNumbers(text, at))
	default:
		return []part{{at[0], at[0] + len(before), after}}, nil
	}
}

// maxOccurrences limits the number of occurrences that are found.
const maxOccurrences = 1000

// occurrences returns the offsets of sub in text. Overlapping occurrences count, because they make an edit ambiguous as
// well.
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

// lineNumbers returns the line numbers of the first ten offsets.
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
