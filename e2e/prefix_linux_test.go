package e2e

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"buddy/agent/model"
	"buddy/agent/model/modeltest"
)

// TestStablePrefix: sessions in two folders and on two days share every byte of the system text and the tools, in each
// protocol; the folder, the date, the additions to the prompt, and the person's words follow in this order, in one
// message. The next request of a session starts with the previous one.
func TestStablePrefix(t *testing.T) {
	t.Parallel()
	for _, api := range []string{"completions", "responses", "anthropic"} {
		t.Run(api, func(t *testing.T) {
			t.Parallel()
			server := modeltest.New(func(r modeltest.Request) modeltest.Answer {
				for _, m := range r.Messages {
					if m.Role == model.Tool {
						return modeltest.Answer{modeltest.Text("done")}
					}
				}
				return modeltest.Answer{modeltest.Call{ID: "c1", Name: "read_file", Arguments: `{"path":"notes.txt"}`}}
			})
			s := httptest.NewServer(server)
			t.Cleanup(s.Close)
			config := filepath.Join(t.TempDir(), "buddy.toml")
			text := fmt.Sprintf("[agent]\nmodel = \"m\"\n[models.m]\napi = %q\napi_base_url = %q\nmodel = \"m\"\ncontext_limit = 100000\n", api, s.URL+"/v1")
			if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			zones := zones(t)
			for i, name := range []string{"first", "second"} {
				d := newDialog(t, "xterm-256color")
				d.write(filepath.Join(name, "AGENTS.md"), "Rule of "+name+".\n")
				d.write(filepath.Join(name, "notes.txt"), "notes of "+name+"\n")
				d.cmd.Env = append(d.cmd.Env, "TZ="+zones[i])
				if out, code := d.run("exec", "--config", config, "-C", filepath.Join(d.work, name), "look at @notes.txt"); code != 0 {
					t.Fatalf("exit %d\n%s", code, out)
				}
			}
			all := server.Requests()
			if len(all) != 4 {
				t.Fatalf("%d requests", len(all))
			}
			stable, days := "", map[string]bool{}
			for i, r := range all {
				var body map[string]json.RawMessage
				if err := json.Unmarshal(r.Body, &body); err != nil {
					t.Fatal(err)
				}
				now := r.Messages[0].Content + string(body["tools"]) + string(body["system"]) + string(body["instructions"])
				if i == 0 {
					stable = now
				}
				if now != stable || r.Messages[0].Role != model.System || len(r.Tools) == 0 {
					t.Errorf("request %d begins with\n%s\nthe first one with\n%s", i, now, stable)
				}
				name := []string{"first", "second"}[i/2]
				first := firstMessage(body)
				last := -1
				for _, part := range []string{"<system-reminder>\nCommands run on this machine", "/" + name + ".", "Rule of " + name, "notes of " + name, "<system-reminder>Today is ", "look at @notes.txt"} {
					at := strings.Index(first, part)
					if at <= last {
						t.Errorf("request %d: %q is not in its place in\n%s", i, part, first)
					}
					last = at
				}
				if !strings.HasSuffix(first, "look at @notes.txt") {
					t.Errorf("request %d: the person's words are not the last in\n%s", i, first)
				}
				_, day, _ := strings.Cut(first, "Today is ")
				days[day[:len("2026-11-22")]] = true
				if i%2 == 1 && first != firstMessage(bodyOf(t, all[i-1])) {
					t.Errorf("the first message changed to\n%s", first)
				}
			}
			if len(days) != 2 {
				t.Errorf("the sessions were on one day: %v", days)
			}
		})
	}
}

func bodyOf(t *testing.T, r modeltest.Request) (body map[string]json.RawMessage) {
	t.Helper()
	if err := json.Unmarshal(r.Body, &body); err != nil {
		t.Fatal(err)
	}
	return body
}

// firstMessage returns the texts of the first message with the role user, as they are sent.
func firstMessage(body map[string]json.RawMessage) string {
	var all []struct {
		Role    string
		Content json.RawMessage
	}
	raw := body["messages"]
	if raw == nil {
		raw = body["input"]
	}
	if json.Unmarshal(raw, &all) != nil {
		return ""
	}
	for _, m := range all {
		if m.Role != "user" {
			continue
		}
		var text string
		if json.Unmarshal(m.Content, &text) == nil {
			return text
		}
		var parts []struct{ Text string }
		_ = json.Unmarshal(m.Content, &parts)
		for _, p := range parts {
			text += p.Text
		}
		return text
	}
	return ""
}

// zones returns files of two time zones that never have the same date: 14 hours before UTC, and 12 behind it. The
// format is that of RFC 8536, version 1.
func zones(t *testing.T) (files []string) {
	t.Helper()
	for i, hours := range []int32{14, -12} {
		data := append([]byte("TZif"), make([]byte, 16)...)
		for _, n := range []byte{0, 0, 0, 0, 1, 4} { // no transitions, one type
			data = append(data, 0, 0, 0, n)
		}
		seconds := uint32(hours * 3600)
		data = append(data, byte(seconds>>24), byte(seconds>>16), byte(seconds>>8), byte(seconds), 0, 0)
		data = append(data, "ZON\x00"...)
		file := filepath.Join(t.TempDir(), fmt.Sprint(i))
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return files
}
