package modeltest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"buddy/agent/model"
)

// Coding plays a model that changes a small Go project: it lists the folder, reads a
// source file and its test, edits the file, runs "go test ./..." and reports in
// markdown. Each answer follows from the conversation, so it works on any project and
// takes a denied or failed call for what it is. "replace A with B" in the prompt says
// what to edit; any other wish becomes a comment. parts come before each answer.
func Coding(parts ...Part) Script {
	return func(r Request) Answer {
		c := newCoding(r)
		a := append(Answer(nil), parts...)
		a = append(a, c.answer()...)
		return append(a, Usage{Prompt: len(r.Body) / 4, Completion: 120, Cached: len(r.Body) / 8})
	}
}

// coding is one exchange, as far as it has come.
type coding struct {
	req    Request
	prompt string
	calls  []exchanged
}

// exchanged is a call and its result.
type exchanged struct {
	call model.ToolCall
	text string // what the tool said, out of its envelope
	err  bool
}

func newCoding(r Request) *coding {
	c := &coding{req: r}
	first := 0
	for i, m := range r.Messages {
		if m.Role == model.User {
			first, c.prompt = i, strings.TrimSpace(m.Content)
		}
	}
	calls := make(map[string]model.ToolCall)
	for _, m := range r.Messages[first:] {
		for _, call := range m.ToolCalls {
			calls[call.ID] = call
		}
		if m.Role == model.Tool {
			text, err := payload(m.Content)
			c.calls = append(c.calls, exchanged{calls[m.ToolCallID], text, err})
		}
	}
	return c
}

// payload takes a tool's text out of its envelope; what has no envelope is an error.
func payload(content string) (text string, isError bool) {
	var envelope struct{ Result json.RawMessage }
	if json.Unmarshal([]byte(content), &envelope) != nil || envelope.Result == nil {
		return content, true
	}
	if s := str(envelope.Result); s != "" {
		return s, false
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(envelope.Result, &fields) != nil {
		return string(envelope.Result), false
	}
	for _, k := range []string{"content", "entries", "text", "output", "message"} {
		if s := str(fields[k]); s != "" {
			return s, false
		}
	}
	if _, ok := fields["exit_code"]; ok {
		text := strings.TrimRight(str(fields["stdout"])+str(fields["stderr"]), "\n")
		if code := string(fields["exit_code"]); code != "0" {
			text += "\nexit code " + code
		}
		return text, false
	}
	return string(envelope.Result), false
}

// last returns the newest call of a tool, or of the command that does its work where
// that tool is not offered, whose arguments contain word.
func (c *coding) last(tool, command, word string) *exchanged {
	if c.tool(tool) == nil {
		tool = "run_shell"
	} else {
		command = ""
	}
	for i := len(c.calls) - 1; i >= 0; i-- {
		values := c.calls[i].call.Arguments
		if c.calls[i].call.Name == tool && strings.Contains(values, command) && strings.Contains(values, word) {
			return &c.calls[i]
		}
	}
	return nil
}

// answer decides what comes next.
func (c *coding) answer() Answer {
	list, edit, test := c.last("list_dir", "ls", ""), c.last("edit_file", "cat >", ""), c.last("run_shell", "", "go test")
	for _, e := range c.calls {
		if e.err {
			return Answer{Text(fmt.Sprintf("I stop here: `%s` did not work.\n\n%s", e.call.Name, block("", e.text)))}
		}
	}
	switch {
	case len(c.req.Tools) == 0:
		return Answer{Text("There are **no tools** here, so I can only talk.")}
	case list == nil:
		return c.list()
	case test != nil:
		return Answer{Text(c.report(*test))}
	case edit != nil && c.tool("run_shell") == nil:
		return Answer{Text(c.report(exchanged{text: "not run: nothing here runs commands"}))}
	case edit != nil:
		return append(Answer{Text("The edit is in. Now the tests.")}, c.call("t", "run_shell", "go test ./...", map[string]any{"why": "to see that nothing broke"}))
	}
	return c.work(list.text)
}

func (c *coding) list() Answer {
	a := Answer{
		Reasoning{Text: fmt.Sprintf("The person wants: %q. First I have to know what is there.", clip(c.prompt, 80))},
		Text("I will look at the project first."),
	}
	return append(a, c.call("l", "list_dir", "ls", map[string]any{"path": ".", "why": "to see the project"}))
}

var goFile = regexp.MustCompile(`[\w./-]+\.go\b`)

// work reads the files and then edits one.
func (c *coding) work(listing string) Answer {
	files := goFile.FindAllString(listing, -1)
	source, test := "", ""
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") {
			test = cmp.Or(test, f)
		} else {
			source = cmp.Or(source, f)
		}
	}
	if source == "" {
		return Answer{Text("There is **no Go file** in this folder, so there is nothing that I could change.")}
	}
	read := c.last("read_file", "cat", source)
	if read == nil {
		a := Answer{Text(fmt.Sprintf("The code is in `%s`. Let me read it.", source)), c.read("r", source)}
		if test != "" {
			a = append(a, c.read("rt", test))
		}
		return a
	}
	before, after := c.change(source, read.text)
	if before == "" {
		return Answer{Text(fmt.Sprintf("I read `%s` and found no place for that change.", source))}
	}
	return Answer{
		Reasoning{Text: "A small edit does it, and the tests will tell."},
		Text("I know what to do: one small edit."),
		c.call("e", "edit_file", "cat > '"+source+"' <<'EOF'\n"+strings.Replace(read.text, before, after, 1)+"\nEOF",
			map[string]any{"path": source, "old": before, "new": after, "why": clip(c.prompt, 80)}),
	}
}

var (
	replaceWish = regexp.MustCompile("(?i)\\b(?:replace|rename|change)\\s+[`\"']?(.+?)[`\"']?\\s+(?:with|to|by|into)\\s+[`\"']?(.+?)[`\"']?[.!]?$")
	lineNumber  = regexp.MustCompile(`(?m)^ *\d+(?:\t|\||: |→)`)
	function    = regexp.MustCompile(`(?m)^func (?:\([^)]*\) )?(\w+).*$`)
)

// change returns what to replace in a source text, and by what; both are whole lines
// that are there once.
func (c *coding) change(file, source string) (before, after string) {
	source = lineNumber.ReplaceAllString(source, "")
	if m := replaceWish.FindStringSubmatch(c.prompt); m != nil {
		for line := range strings.Lines(source) {
			line = strings.TrimSuffix(line, "\n")
			if strings.Contains(line, m[1]) && strings.Count(source, line) == 1 {
				return line, strings.ReplaceAll(line, m[1], m[2])
			}
		}
	}
	for _, m := range function.FindAllStringSubmatch(source, -1) {
		if strings.Count(source, m[0]) == 1 {
			return m[0], fmt.Sprintf("// %s: %s (see %s).\n%s", m[1], clip(c.prompt, 60), file, m[0])
		}
	}
	return "", ""
}

func (c *coding) read(id, path string) Call {
	return c.call(id, "read_file", "cat '"+path+"'", map[string]any{"path": path, "why": "to see what is there"})
}

func (c *coding) report(test exchanged) string {
	edit := map[string]string{}
	if e := c.last("edit_file", "cat >", ""); e != nil {
		edit = arguments(e.call)
	}
	diff := prefixed("-", edit["old"]) + prefixed("+", edit["new"])
	state, result, failed := "the tests **pass**", "ok", false
	if failed = strings.Contains(test.text, "FAIL") || strings.Contains(test.text, "exit code"); failed {
		state, result = "the tests **fail**", "failed"
	}
	text := fmt.Sprintf("## Done\n\nI changed `%s`, and %s.\n\n%s\n### Checks\n\n| step | result |\n|---|---|\n| edit | 1 place |\n| `go test ./...` | %s |\n\n%s",
		cmp.Or(edit["path"], "the file"), state, block("diff", diff), result, block("", clip(test.text, 600)))
	if failed {
		return text + "\n1. Read the first failure above.\n2. Tell me whether to take the edit back.\n"
	}
	return text + "\n- Nothing else was touched.\n- Say so if you want it *another way*.\n"
}

func prefixed(sign, text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		out.WriteString(sign + strings.TrimSuffix(line, "\n") + "\n")
	}
	return out.String()
}

func block(language, text string) string {
	return "```" + language + "\n" + strings.TrimSuffix(text, "\n") + "\n```\n"
}

// clip shortens text to about n bytes and one line less.
func clip(s string, n int) string {
	if len(s) > n {
		s = strings.ToValidUTF8(s[:n], "") + "…"
	}
	if n < 100 {
		s = strings.Join(strings.Fields(s), " ")
	}
	return s
}
