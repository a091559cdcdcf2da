package modeltest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"buddy/agent/model"
	"buddy/agent/model/completions"
	"buddy/agent/model/modeltest"
	"buddy/agent/model/responses"
)

const source = "package calc\n\nfunc Add(a, b int) int {\n\treturn a + b\n}\n"

func def(name string, properties ...string) model.ToolDef {
	p := make(map[string]any)
	for _, n := range properties {
		p[n] = map[string]any{"type": "string"}
	}
	p["why"] = map[string]any{"type": "string"}
	p["level"] = map[string]any{"type": "string", "enum": []string{"low", "high"}}
	schema, _ := json.Marshal(map[string]any{"type": "object", "properties": p, "required": append(properties, "why", "level")})
	return model.ToolDef{Name: name, Parameters: schema}
}

// project plays the tools of a small Go project.
type project struct {
	files map[string]string
	names []string // of the tools that were called
	deny  string   // the tool that is denied
}

func (p *project) run(call model.ToolCall) string {
	p.names = append(p.names, call.Name)
	if call.Name == p.deny {
		return "Command execution denied by user."
	}
	var a struct {
		Path, Command string
		Old           string `json:"old_string"`
		New           string `json:"new_string"`
	}
	if err := json.Unmarshal([]byte(call.Arguments), &a); err != nil {
		return err.Error()
	}
	result := map[string]any{}
	switch call.Name {
	case "list_dir":
		result["entries"] = "sub/\ncalc.go 10\ncalc_test.go 20\ngo.mod 5"
	case "read_file":
		result["content"] = p.files[a.Path]
	case "edit_file":
		if strings.Count(p.files[a.Path], a.Old) != 1 {
			return "Tool error: execution failed: not there once"
		}
		p.files[a.Path] = strings.Replace(p.files[a.Path], a.Old, a.New, 1)
		result["message"] = "edited"
	default:
		result["exit_code"], result["stdout"], result["stderr"] = 0, p.shell(a.Command), ""
	}
	out, _ := json.Marshal(map[string]any{"harness_timestamp": map[string]any{}, "result": result})
	return string(out)
}

func (p *project) shell(command string) string {
	path := func() string { return strings.Split(command, "'")[1] }
	switch {
	case command == "ls":
		return "calc.go\ncalc_test.go\n"
	case strings.HasPrefix(command, "cat >"):
		_, text, _ := strings.Cut(command, "\n")
		p.files[path()] = strings.TrimSuffix(text, "\nEOF")
		return ""
	case strings.HasPrefix(command, "cat "):
		return p.files[path()]
	}
	return "ok  \tcalc\t0.01s\n"
}

// exchange asks until there are no calls, as an agent does, and returns the last answer.
func exchange(t *testing.T, m model.Model, req model.Request, p *project) string {
	t.Helper()
	for range 10 {
		var answer model.Message
		for d, err := range m.Stream(t.Context(), req) {
			if err != nil {
				t.Fatal(err)
			}
			if d.Kind == model.Done {
				answer = *d.Message
			}
		}
		req.Messages = append(req.Messages, answer)
		if len(answer.ToolCalls) == 0 {
			return answer.Content
		}
		for _, c := range answer.ToolCalls {
			req.Messages = append(req.Messages, model.Message{Role: model.Tool, ToolCallID: c.ID, Content: p.run(c)})
		}
	}
	t.Fatalf("no end after %v", p.names)
	return ""
}

// TestCoding plays the whole exchange, with the tools that there are.
func TestCoding(t *testing.T) {
	shell := def("run_shell", "command")
	all := []model.ToolDef{def("list_dir", "path"), def("read_file", "path"), def("edit_file", "path", "old_string", "new_string"), shell}
	for _, tt := range []struct {
		name, prompt string
		tools        []model.ToolDef
		deny         string
		calls        []string
		file, report string
	}{
		{"comment", "Please document this", all, "", []string{"list_dir", "read_file", "read_file", "edit_file", "run_shell"}, "// Add: Please document this", "the tests **pass**"},
		{"replace", "replace `a + b` with `b + a`.", all, "", []string{"list_dir", "read_file", "read_file", "edit_file", "run_shell"}, "\treturn b + a\n", "+\treturn b + a"},
		{"shell only", "change a + b to b + a", []model.ToolDef{shell}, "", []string{"run_shell", "run_shell", "run_shell", "run_shell", "run_shell"}, "\treturn b + a\n", "the tests **pass**"},
		{"no shell", "document", all[:3], "", []string{"list_dir", "read_file", "read_file", "edit_file"}, "// Add: document", "nothing here runs commands"},
		{"denied", "document", all, "edit_file", []string{"list_dir", "read_file", "read_file", "edit_file"}, source, "I stop here: `edit_file` did not work."},
		{"no tools", "document", nil, "", nil, source, "no tools"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := modeltest.Start(t, modeltest.Coding(modeltest.Chunks{Bytes: 7}))
			chat, err := completions.New(completions.Config{BaseURL: srv.URL, Model: "m"})
			if err != nil {
				t.Fatal(err)
			}
			items, err := responses.New(responses.Config{BaseURL: srv.URL, Model: "m"})
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range []model.Model{chat, items} {
				p := &project{files: map[string]string{"calc.go": source, "calc_test.go": "package calc\n"}, deny: tt.deny}
				req := model.Request{Messages: []model.Message{{Role: model.User, Content: tt.prompt}}, Tools: tt.tools}
				report := exchange(t, m, req, p)
				if !slices.Equal(p.names, tt.calls) || !strings.Contains(p.files["calc.go"], tt.file) || !strings.Contains(report, tt.report) {
					t.Errorf("%s: calls %v\n%s\n%s", m.Info().API, p.names, p.files["calc.go"], report)
				}
			}
			for _, r := range srv.Requests() {
				if r.Refused != nil {
					t.Error(r.Refused)
				}
			}
		})
	}
}

// TestServerRefuses: a wrong request is a 400 with the reason, and is recorded.
func TestServerRefuses(t *testing.T) {
	srv := modeltest.Start(t, modeltest.Steps())
	body := `{"model":"m","messages":[{"role":"robot","content":"x"}]}`
	for path, want := range map[string]string{"/chat/completions": `400 messages[0]: unknown role \"robot\"`, "/models": "404 no such route: POST /v1/models"} {
		req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, srv.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		got, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		code, text, _ := strings.Cut(want, " ")
		if fmt.Sprint(resp.StatusCode) != code || !strings.Contains(string(got), text) {
			t.Errorf("%s: %d %s, want %s", path, resp.StatusCode, got, want)
		}
	}
	if r := srv.Requests(); len(r) != 1 || r[0].Refused == nil || string(r[0].Body) != body {
		t.Errorf("%+v", r)
	}
}

// TestStepsEnd: a request too many says so.
func TestStepsEnd(t *testing.T) {
	if a := modeltest.Steps()(modeltest.Request{}); len(a) != 1 || !strings.Contains(a[0].(modeltest.Status).Body, "0 answers, this is request 1") {
		t.Errorf("%v", a)
	}
}
