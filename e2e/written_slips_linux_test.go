package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"buddy/agent/model"
	"buddy/agent/model/modeltest"
)

// slip is a call as a model writes it; # in the arguments becomes the number of the call.
type slip struct {
	name, args string
	runs       bool // the intended call is clear
}

var slips = []slip{
	{"functions.run_shell", `{"command":"touch made-#"}`, true},
	{"default_api.run_shell", `{"command":"touch made-#"}`, true},
	{"functions.run_shell:0", `{"command":"touch made-#"}`, true},
	{"run_shell<|channel|>commentary", `{"command":"touch made-#"}`, true},
	{"functions.exec_command", `{"cmd":"touch made-#"}`, true},
	{"run_shell", `{}{"command":"touch made-#"}`, true},
	{"run_shell", `{"command":"touch made-#"}}`, true},
	{"run_shell", `{"command":"touch made-#"`, true},
	{"run_shell", `{"command":"touch made-#",}`, true},
	{"run_shell", `{'command':'touch made-#'}`, true},
	{"run_shell", "{\"command\":\"printf 'a\nb' > made-#\"}", true},
	{"run_shell", "```json\n{\"command\":\"touch made-#\"}\n```", true},
	{"read_file", `{"path":"lines.txt","offset":2.0,"limit":1.0}`, true},
	{"run_shell", `{"command":"touch made-#`, false},
	{"run_shell", `{"command":"touch made-#"}{"command":"touch made-#b"}`, false},
	{"functions.nothing", `{"command":"touch made-#"}`, false},
}

// sloppyModel makes one call of slips in each answer, and records the calls in the requests.
type sloppyModel struct {
	mu    sync.Mutex
	calls []model.ToolCall // of all requests together
	last  modeltest.Request
}

func (m *sloppyModel) answer(r modeltest.Request) modeltest.Answer {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last, m.calls = r, nil
	for _, msg := range r.Messages {
		m.calls = append(m.calls, msg.ToolCalls...)
	}
	n := len(m.calls)
	if n == len(slips) {
		return modeltest.Answer{modeltest.Text("done")}
	}
	return modeltest.Answer{
		modeltest.Chunks{Bytes: 5},
		modeltest.Call{ID: fmt.Sprint("call_", n), Name: slips[n].name, Arguments: strings.ReplaceAll(slips[n].args, "#", fmt.Sprint(n))},
	}
}

// TestSlipsOfModelsRun: from the bytes of a stream to the tool, a call with a slip in its name or arguments runs if the
// intention is clear, in the form that the person sees and later requests contain. Any other call is refused, and no
// part of it runs.
func TestSlipsOfModelsRun(t *testing.T) {
	t.Parallel()
	for _, protocol := range modeltest.Protocols {
		t.Run(protocol.Name, func(t *testing.T) {
			t.Parallel()
			d := newDialog(t, "xterm-256color")
			m := &sloppyModel{}
			srv := modeltest.Start(t, m.answer)
			d.add("home/.config/buddy/buddy.toml", fmt.Sprintf("[models.sloppy]\napi_base_url = %q\napi = %q\napi_key = \"\"\nmodel = \"test\"\ncontext_limit = 100000\n", srv.URL, protocol.Name))
			d.write("lines.txt", "one\ntwo\nthree\n")
			out, code := d.run("exec", "--approve", "all", "--model", "sloppy", "go")
			m.mu.Lock()
			defer m.mu.Unlock()
			if code != 0 || len(m.calls) != len(slips) || m.last.Refused != nil {
				t.Fatalf("exit %d after %d calls, %v\n%s", code, len(m.calls), m.last.Refused, out)
			}
			results := make(map[string]string)
			for _, msg := range m.last.Messages {
				if msg.Role == model.Tool {
					results[msg.ToolCallID] = msg.Content
				}
			}
			for n, s := range slips {
				c := m.calls[n]
				_, err := os.Stat(filepath.Join(d.work, fmt.Sprint("made-", n)))
				ran := err == nil || s.name == "read_file" && strings.Contains(results[c.ID], "two") && !strings.Contains(results[c.ID], "one")
				if ran != s.runs {
					t.Errorf("%s %s: ran %v; %s", s.name, s.args, ran, results[c.ID])
				}
				if s.runs && s.name != "read_file" && !strings.Contains(c.Arguments, fmt.Sprintf("made-%d", n)) {
					t.Errorf("%s %s: the next request has %s %s", s.name, s.args, c.Name, c.Arguments)
				}
			}
			if !strings.Contains(out, "touch made-0") || !strings.Contains(out, "touch made-9") {
				t.Errorf("printed\n%s", out)
			}
		})
	}
}
