package lsp

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"buddy/agent/action"
	"buddy/tools"
	"buddy/tools/file"
)

// tool returns the tool code of the project, where files with "secret" in their names may hold secrets.
func (b *bench) tool() tools.Tool {
	b.t.Helper()
	files, err := file.NewWorkspace(b.dir, func(path string) string {
		if name := filepath.Base(path); strings.Contains(name, "secret") {
			return name
		}
		return ""
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return b.all.CodeTool(files)
}

// codeCall returns a call of code: action, path, line and symbol, and for a rename the new name.
func codeCall(act, path string, line int, symbol string, newName ...string) tools.Call {
	args := map[string]any{"action": act}
	for name, value := range map[string]string{"path": path, "symbol": symbol, "new_name": strings.Join(newName, "")} {
		if value != "" {
			args[name] = value
		}
	}
	if line > 0 {
		args["line"] = line
	}
	text, err := json.Marshal(args)
	if err != nil {
		panic(err)
	}
	return tools.Call{ID: "c1", Name: "code", Arguments: string(text)}
}

// code plans and runs a call, and returns its text or its error.
func (b *bench) code(call tools.Call) string {
	b.t.Helper()
	tool := b.tool()
	var err error
	if call.Planned, err = tool.Plan(call); err != nil {
		return err.Error()
	}
	return tool.Run(b.t.Context(), call).Content
}

// taxes writes two files with a symbol, behind characters of two and four bytes, and starts the server.
func (b *bench) taxes() {
	b.t.Helper()
	b.write("a.x", "def Tax\nuse Tax, Tax\n")
	b.write("b.x", "日本 😀 Tax\r\ndef Other\r\n")
	b.diagnose("a.x", "def Tax\n\tuse Tax, Tax\n")
}

func TestCodeAsksAboutSymbols(t *testing.T) {
	inMemory(t, "", func(t *testing.T, b *bench) {
		b.taxes()
		for _, tt := range []struct {
			call tools.Call
			want string
		}{
			{codeCall("definition", "b.x", 1, "Tax"), "a.x:1: def Tax"},
			{codeCall("references", "b.x", 1, "Tax"), "a.x:1: def Tax\na.x:2: use Tax, Tax\nb.x:1: 日本 😀 Tax"},
			{codeCall("definition", "b.x", 1, "😀 Tax"), "a.x:1: def Tax"},
			{codeCall("symbols", "b.x", 0, ""), "b.x:2: def Other"},
			{codeCall("symbols", "", 0, "T"), "a.x:1: def Tax"},
			{codeCall("symbols", "a.x", 0, "Oth"), "b.x:2: def Other"},
			{codeCall("hover", b.path("b.x"), 1, "Tax"), "the word Tax"},
			{codeCall("hover", "a.x", 2, "Tax"), "the word Tax\n[line 2 has \"Tax\" 2 times, and the first one was used; give more of the line for another]"},
			{codeCall("definition", "b.x", 1, "日本"), "[checker found no definition]"},
			{codeCall("symbols", "", 0, "nothing like it"), "[checker found no symbols]"},
			{codeCall("definition", "a.x", 1, "Ta"), `a.x: line 1 does not have "Ta": no line of the file has it`},
			{codeCall("definition", "b.x", 2, "Tax"), `b.x: line 2 does not have "Tax": it is in line 1`},
			{codeCall("definition", "b.x", 9, "Tax"), "b.x: line 9 does not exist: the file has 2 line ends"},
		} {
			if got := strings.TrimSpace(b.code(tt.call)); got != tt.want && !strings.HasSuffix(got, "execution failed: "+tt.want) {
				t.Errorf("%s:\n%s\nwant:\n%s", tt.call.Arguments, got, tt.want)
			}
		}
	})
}

func TestCodeRefusesIncompleteCalls(t *testing.T) {
	inMemory(t, "", func(t *testing.T, b *bench) {
		for wants, call := range map[string]tools.Call{
			`action: expected one of definition, references, symbols, hover, rename, got "go"`: codeCall("go", "a.x", 1, "x"),
			"definition needs path, line (from 1) and symbol":                                  codeCall("definition", "a.x", 0, "x"),
			"hover needs path, line":                           codeCall("hover", "", 1, "x"),
			"rename needs path, line":                          codeCall("rename", "a.x", 1, "", "y"),
			"rename needs new_name":                            codeCall("rename", "a.x", 1, "x", " "),
			"symbols needs path to list the symbols of a file": codeCall("symbols", "", 0, ""),
		} {
			want(t, call.Arguments, b.code(call), "invalid arguments", wants)
		}
	})
}

// The server has the text that was edited last, by a tool or by another program.
func TestCodeAsksAboutThePresentText(t *testing.T) {
	inMemory(t, "", func(t *testing.T, b *bench) {
		b.taxes()
		b.edit("a.x", "new line\ndef Tax\n")
		want(t, "after an edit", b.code(codeCall("definition", "b.x", 1, "Tax")), "a.x:2: def Tax")
		b.write("a.x", "new line\nanother one\ndef Tax\n")
		want(t, "after a command", b.code(codeCall("definition", "b.x", 1, "Tax")), "a.x:3: def Tax")
		if late := b.all.Late(); late != "" {
			t.Errorf("a question causes a report: %q", late)
		}
	})
}

func TestCodeIsARead(t *testing.T) {
	inMemory(t, "", func(t *testing.T, b *bench) {
		b.taxes()
		tool := b.tool()
		call := codeCall("definition", "b.x", 1, "Tax")
		act, err := tool.Plan(call)
		if err != nil || act.Kind != action.FileRead || act.Path != b.path("b.x") || act.Mutation || act.Tool != "code" {
			t.Errorf("the plan is %+v, %v", act, err)
		}
		if call.Planned = act; !tools.IsParallel(tool, call) {
			t.Error("it does not run next to others")
		}
		call = codeCall("rename", "b.x", 1, "Tax", "Duty")
		if call.Planned, err = tool.Plan(call); err != nil || tools.IsParallel(tool, call) {
			t.Errorf("a rename runs next to others, %v", err)
		}
	})
}

// The definition of code, as tool_search returns it, is small.
func TestCodeCostsAtMost300Bytes(t *testing.T) {
	def := New(Options{}).CodeTool(nil).Definition()
	if text := tools.JSON(def); len(text) > 300 {
		t.Errorf("%d bytes: %s", len(text), text)
	}
	found := tools.NewToolSearch(tools.NewDeferred(New(Options{}).CodeTool(nil)))
	for _, query := range []string{"lsp", "language server", "go to definition", "find references", "rename", "hover"} {
		args, err := json.Marshal(map[string]string{"query": query})
		if err != nil {
			t.Fatal(err)
		}
		want(t, query, found.Run(t.Context(), tools.Call{Name: "tool_search", Arguments: string(args)}).Content, `{"name":"code",`)
	}
}

// Answers of a server are data: nothing in them makes the tool read a file outside of the workspace, or one with
// secrets, or return a text without limits.
func TestCodeSurvivesHostileAnswers(t *testing.T) {
	inMemory(t, "", func(t *testing.T, b *bench) {
		b.taxes()
		outside := t.TempDir()
		for path, text := range map[string]string{filepath.Join(outside, "out.x"): "out of reach\n", b.path("secret.x"): "out of reach\n"} {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink(filepath.Join(outside, "out.x"), b.path("link.x")); err != nil {
			t.Fatal(err)
		}
		b.write("odd.x", "\x1b[31mred\x1b[0m\u202e text "+strings.Repeat("x", 1000)+"\n")
		at := func(name string, line int) string {
			return fmt.Sprintf(`{"uri":%q,"range":{"start":{"line":%d,"character":0},"end":{"line":0,"character":0}}}`, uriOf(b.path(name)), line)
		}
		var many []string
		for i := range 250 {
			many = append(many, at("a.x", i))
		}
		const method = "textDocument/definition"
		for _, tt := range []struct{ answer, want string }{
			{"null", "[checker found no definition]"},
			{"[]", "[checker found no definition]"},
			{"[null]", "b.x: (no such line)"},
			{"{}", "b.x: (no such line)"},
			{at("a.x", 1), "a.x:2: use Tax, Tax"},
			{"[" + at("a.x", 0) + "," + at("a.x", 0) + "]", "a.x:1: def Tax"},
			{fmt.Sprintf(`[{"targetUri":%q,"targetRange":{},"targetSelectionRange":{"start":{"line":1}}}]`, uriOf(b.path("a.x"))), "a.x:2: use Tax, Tax"},
			{`[{"name":"n","kind":5,"location":` + at("a.x", 0) + `}]`, "a.x:1: def Tax"},
			{`[{"name":"n","range":{"start":{"line":0}},"selectionRange":{"start":{"line":1}},"children":[{"selectionRange":{"start":{"line":0}}}]}]`, "b.x:2: def Other\nb.x:1: 日本 😀 Tax"},
			{at("a.x", 9999), "a.x:10000: (no such line)"},
			{at("a.x", -7), "a.x: (no such line)"},
			{at("none.x", 0), "none.x:1: (no such line)"},
			{at("../"+filepath.Base(outside)+"/x", 0), "outside the workspace)"},
			{`{"uri":"file://` + outside + `/out.x","range":{}}`, outside + "/out.x:1: (outside the workspace)"},
			{at("link.x", 0), "link.x:1: (outside the workspace)"},
			{at("secret.x", 0), "secret.x:1: (may hold secrets)"},
			{`{"uri":"jdt://jar/Tax.class\u001b[31m","range":{}}`, "jdt://jar/Tax.class (not a file)"},
			{`{"uri":"file://server/share/a.x","range":{}}`, "file://server/share/a.x (not a file)"},
			{at("odd.x", 0), "odd.x:1: red text xxx"},
			{"[" + strings.Join(many, ",") + "]", "a.x:100: (no such line)\n[150 more]"},
			{`17`, "checker sent an invalid answer: "},
			{`[17]`, "checker sent an invalid answer: "},
			{`{"uri":17}`, "checker sent an invalid answer: "},
			{at("a.x", 0)[:len(at("a.x", 0))-1] + `,"x":"` + strings.Repeat("x", maxAnswer) + `"}`, "checker sent an answer of 4.2 MB (at most 4): use grep"},
		} {
			b.replies(method, tt.answer)
			got := b.code(codeCall("definition", "b.x", 1, "Tax"))
			if !strings.Contains(got, tt.want) || strings.Contains(got, "out of reach") || strings.ContainsAny(got, "\x1b\u202e") || len(got) > 5000 {
				t.Errorf("%.300s:\n%.2000s\nwant:\n%s", tt.answer, got, tt.want)
			}
		}
		b.replies("textDocument/hover", `{"contents":["\u001b[1mfirst",{"language":"x","value":"second\nthird  "},{"value":"`+strings.Repeat("y", 90_000)+`"}]}`)
		got := b.code(codeCall("hover", "b.x", 1, "Tax"))
		if want(t, "hover", got, "first\nsecond\nthird\nyyy"); len(got) > 2*tools.MinPage {
			t.Errorf("hover has %d bytes", len(got))
		}
		for _, answer := range []string{"null", `{"contents":null}`, `{"contents":[]}`, `{"contents":""}`} {
			b.replies("textDocument/hover", answer)
			want(t, answer, b.code(codeCall("hover", "b.x", 1, "Tax")), "checker has no text about it")
		}
	})
}

// A server that does not answer is waited for 30 seconds, and gets a cancellation.
func TestCodeStopsWaiting(t *testing.T) {
	inMemory(t, "", func(t *testing.T, b *bench) {
		b.taxes()
		b.replies("textDocument/references", "")
		began := time.Now()
		want(t, "the error", b.code(codeCall("references", "b.x", 1, "Tax")), "checker did not answer within 30s: use grep")
		if took := time.Since(began); took > toolTime+time.Second {
			t.Errorf("it took %v", took)
		}
		time.Sleep(time.Second) // of the fake clock
		if !b.wasTold("$/cancelRequest") {
			t.Error("the request was not cancelled")
		}
		want(t, "the next question", b.code(codeCall("definition", "b.x", 1, "Tax")), "a.x:1: def Tax")
	})
}

func TestCodeNamesTheServerThatDoesNotRun(t *testing.T) {
	inMemory(t, "", func(t *testing.T, b *bench) {
		b.write("a.x", "def Tax\n")
		b.write("a.txt", "Tax\n")
		call := codeCall("hover", "a.x", 1, "Tax")
		want(t, "before an edit", b.code(call), "no language server is running for a.x (language: x): checker starts when a file of that kind is first changed; use grep")
		want(t, "all symbols", b.code(codeCall("symbols", "", 0, "Tax")), "no language server is running: one starts when a file of its language is first changed; use grep")
		want(t, "an unknown language", b.code(codeCall("hover", "a.txt", 1, "Tax")), "no language server is known for .txt files (a.txt); use grep")
		b.defs[0].Problem = "not trusted"
		want(t, "an unusable server", b.code(call), "(language: x): checker can't start: not trusted; use grep")
		b.defs[0].Problem = ""
		if b.started() > 0 {
			t.Error("a question started a server")
		}
		b.all.o.Away = "web-02"
		want(t, "another machine", b.code(call), "the project is on web-02, and they only run on this machine; use grep")
	})
}
