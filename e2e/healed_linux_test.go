package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"strings"
	"sync"
	"testing"

	"buddy/agent/model"
	"buddy/agent/model/modeltest"
)

// strictModel refuses requests that real servers have refused, in their words, and counts the refusals.
type strictModel struct {
	mu      sync.Mutex
	refused map[string]int
}

func (s *strictModel) refuse(why string, code int, body string) modeltest.Answer {
	s.refused[why]++
	return modeltest.Answer{modeltest.Status{Code: code, Body: body}}
}

// roles returns the roles of the messages of a request, one letter each.
func roles(msgs []model.Message) string {
	var b strings.Builder
	for _, m := range msgs {
		b.WriteString(string(m.Role)[:1])
	}
	return b.String()
}

// lastTask returns the last line "do …" of a person; reminders may be in the same message.
func lastTask(msgs []model.Message) (task string) {
	for _, m := range msgs {
		for line := range strings.Lines(m.Content) {
			if m.Role == model.User && strings.HasPrefix(line, "do ") {
				task = strings.TrimSuffix(line, "\n")
			}
		}
	}
	return task
}

func (s *strictModel) answer(r modeltest.Request) modeltest.Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	prompt := lastTask(r.Messages)
	body, order := string(r.Body), roles(r.Messages)
	anthropic := strings.Contains(body, `"max_tokens"`)
	last := r.Messages[len(r.Messages)-1]
	switch {
	case strings.Contains(last.Content, "<conversation>"):
		return s.refuse("summary", 400, `{"error":{"message":"internal"}}`)
	case anthropic && prompt != "do one" && strings.Contains(body, `"signature"`):
		return s.refuse("signature", 400, "{\"error\":{\"type\":\"invalid_request_error\",\"message\":\"messages.1.content.0: Invalid `signature` in `thinking` block\"}}")
	case r.Messages[len(r.Messages)-1].Images != nil:
		return s.refuse("picture", 400, `{"error":{"message":"Could not process image"}}`)
	case !anthropic && (strings.Contains(order, "uu") || strings.Contains(order, "tu")):
		return s.refuse("order", 400, `{"object":"error","message":"Unexpected role 'user' after role 'tool'","type":"invalid_request_message_order","code":"3230"}`)
	case !anthropic && len(body) > 60_000:
		return s.refuse("too long", 400, `{"error":{"code":"1261","message":"Prompt exceeds max length"}}`)
	}
	call := func(name, args string) modeltest.Answer {
		return modeltest.Answer{modeltest.Reasoning{Text: "let me see"}, modeltest.Call{ID: fmt.Sprint("c", len(r.Body)), Name: name, Arguments: args}}
	}
	calls := strings.Count(order[strings.LastIndexByte(order, 'u'):], "t")
	switch {
	case prompt == "do one" && last.Role == model.User:
		return call("run_shell", `{"command":"echo hello"}`)
	case prompt == "do look" && !strings.Contains(body, "pic.png\\\"") && !strings.Contains(body, `"path":"pic.png"`):
		return call("read_file", `{"path":"pic.png"}`)
	case prompt == "do grow" && calls < 12 && s.refused["too long"] == 0:
		return call("run_shell", fmt.Sprintf(`{"command":"seq %d 2999 | tail -n 900"}`, calls))
	}
	return modeltest.Answer{modeltest.Reasoning{Text: "fine"}, modeltest.Text("fine: " + prompt)}
}

// TestOneSessionSurvives: a refused signature, a refused picture, a strict template, a request that is too long with an
// unusual error text, and a failing summary, one after the other in one session, each prompt in its own process.
func TestOneSessionSurvives(t *testing.T) {
	t.Parallel()
	d := newDialog(t, "xterm-256color")
	strict := &strictModel{refused: make(map[string]int)}
	srv := modeltest.Start(t, strict.answer)
	for api, more := range map[string]string{"anthropic": "reasoning_effort = \"medium\"\n", "completions": ""} {
		d.add("home/.config/buddy/buddy.toml", fmt.Sprintf("[models.%s]\napi_base_url = %q\napi = %q\napi_key = \"\"\nmodel = \"claude-sonnet-4-5\"\ncontext_limit = 400000\n%s", api, srv.URL, api, more))
	}
	var pic bytes.Buffer
	if err := png.Encode(&pic, image.NewRGBA(image.Rect(0, 0, 4, 4))); err != nil {
		t.Fatal(err)
	}
	d.write("pic.png", pic.String())
	for i, tt := range []struct{ api, prompt, says string }{
		{"anthropic", "one", ""},
		{"anthropic", "two", "without the earlier reasoning"},
		{"anthropic", "three", "without the earlier reasoning"}, // the new reasoning is refused, too, for the last time
		{"anthropic", "look", "without the pictures so far"},
		{"completions", "four", ""},
		{"completions", "grow", "no summary of the older messages"},
		{"completions", "five", ""},
		{"anthropic", "six", ""},
	} {
		args := []string{"exec", "--approve", "all", "--model", tt.api}
		if i > 0 {
			args = append(args, "--resume", "last")
		}
		out, code := d.run(append(args, "do "+tt.prompt)...)
		if code != 0 || !strings.Contains(out, "fine: do "+tt.prompt) || !strings.Contains(out, tt.says) || (tt.says == "") == strings.Contains(out, "refused a request") && tt.prompt != "grow" {
			t.Errorf("%s: exit %d\n%s", tt.prompt, code, out)
		}
	}
	strict.mu.Lock()
	defer strict.mu.Unlock()
	if got, _ := json.Marshal(strict.refused); string(got) != `{"picture":1,"signature":2,"summary":2,"too long":1}` {
		t.Errorf("refused: %s", got)
	}
}

// touchyModel refuses each request with the word "forbidden" in a result or prompt, and each with pictures from tools.
type touchyModel struct {
	mu      sync.Mutex
	refusal modeltest.Answer
	refused int
	last    modeltest.Request // the last request that was not refused
}

func (m *touchyModel) answer(r modeltest.Request) modeltest.Answer {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, msg := range r.Messages {
		if msg.Role != model.Assistant && (strings.Contains(msg.Content, "forbidden") || len(msg.Images) > 0) {
			m.refused++
			return m.refusal
		}
	}
	m.last = r
	prompt := lastTask(r.Messages)
	if path, ok := strings.CutPrefix(prompt, "do read "); ok && r.Messages[len(r.Messages)-1].Role == model.User {
		return modeltest.Answer{modeltest.Call{ID: path, Name: "read_file", Arguments: fmt.Sprintf(`{"path":%q}`, path)}}
	}
	return modeltest.Answer{modeltest.Text("fine: " + prompt)}
}

func (m *touchyModel) saw() (refused int, last modeltest.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.refused, m.last
}

// TestRefusedContentStaysOut: a refusal by a content policy ends the exchange after one request, and the next prompt is
// answered, in its own process. The session keeps everything.
func TestRefusedContentStaysOut(t *testing.T) {
	t.Parallel()
	policy := `{"error":{"message":"The response was filtered due to the prompt triggering the content management policy.","code":"content_filter"}}`
	for _, tt := range []struct {
		name, api, prompt, says, sent string
		refusal                       modeltest.Answer
	}{
		{"result", "completions", "do read bad.txt", "test refused the last result", "[Withheld: ", modeltest.Answer{modeltest.Status{Code: 400, Body: policy}}},
		{"result", "responses", "do read bad.txt", "test refused the last result", "[Withheld: ", modeltest.Answer{modeltest.Finish("content_filter")}},
		{"result", "anthropic", "do read bad.txt", "test refused the last result", "[Withheld: ", modeltest.Answer{modeltest.Text("I "), modeltest.Finish("refusal")}},
		{"picture", "completions", "do read pic.png", "test refused the last result", "[Withheld: ", modeltest.Answer{modeltest.Status{Code: 403, Body: policy}}},
		{"prompt", "completions", "do forbidden", "buddy removed it from the conversation", "", modeltest.Answer{modeltest.Status{Code: 400, Body: policy}}},
		{"prompt", "anthropic", "do forbidden", "buddy removed it from the conversation", "", modeltest.Answer{modeltest.Finish("refusal")}},
	} {
		t.Run(tt.name+" "+tt.api, func(t *testing.T) {
			t.Parallel()
			d := newDialog(t, "xterm-256color")
			m := &touchyModel{refusal: tt.refusal}
			srv := modeltest.Start(t, m.answer)
			d.add("home/.config/buddy/buddy.toml", fmt.Sprintf("[models.touchy]\napi_base_url = %q\napi = %q\napi_key = \"\"\nmodel = \"test\"\n", srv.URL, tt.api))
			d.write("bad.txt", "forbidden words\n")
			var pic bytes.Buffer
			if err := png.Encode(&pic, image.NewRGBA(image.Rect(0, 0, 4, 4))); err != nil {
				t.Fatal(err)
			}
			d.write("pic.png", pic.String())
			out, code := d.run("exec", "--approve", "all", "--model", "touchy", tt.prompt)
			if refused, _ := m.saw(); code == 0 || refused != 1 || !strings.Contains(out, tt.says) {
				t.Errorf("exit %d after %d refusals\n%s", code, refused, out)
			}
			out, code = d.run("exec", "--approve", "all", "--model", "touchy", "--resume", "last", "do next")
			refused, last := m.saw()
			if code != 0 || refused != 1 || !strings.Contains(out, "fine: do next") {
				t.Errorf("exit %d after %d refusals\n%s", code, refused, out)
			}
			if body := string(last.Body); !strings.Contains(body, tt.sent) || strings.Contains(body, "forbidden") {
				t.Errorf("sent: %+v", last.Messages)
			}
			if kept := d.journal(); tt.name != "picture" && !strings.Contains(kept, "forbidden") {
				t.Errorf("stored: %s", kept)
			}
		})
	}
}
