package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"buddy/agent/model"
	"buddy/app/compose"
)

// checkTime limits each request of a check.
const checkTime = 20 * time.Second

// Check runs a session with the built-in demo through the protocol, as an editor would, and prints a line for each step
// to out. The session and its folder are deleted afterwards.
func Check(options *compose.Options, out io.Writer) error {
	demo := *options
	demo.Model, demo.Approve, demo.Place = model.Demo, "", compose.Place{}
	dir, err := os.MkdirTemp("", "buddy-acp-check")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return err
	}
	toServer, fromEditor := io.Pipe()
	toEditor, fromServer := io.Pipe()
	p := &probe{conn: newConn(fromEditor), dir: dir, kinds: make(map[string]int)}
	var ends sync.WaitGroup
	ends.Go(func() { Serve(toServer, fromServer, &demo); _ = fromServer.Close() })
	ends.Go(func() { p.conn.serve(toEditor, p); p.conn.cancel() })
	for _, s := range checks {
		began := time.Now()
		if err = s.run(p); err != nil {
			_, _ = fmt.Fprintf(out, "FAILED  %s\n", s.name)
			err = fmt.Errorf("%s: %w", s.name, err)
			break
		}
		if _, err = fmt.Fprintf(out, "ok  %-32s %5d ms\n", s.name, time.Since(began).Milliseconds()); err != nil {
			break
		}
	}
	_ = fromEditor.Close()
	ends.Wait()
	return err
}

type object = map[string]any

// checks are the steps of a check, in order.
var checks = []struct {
	name string
	run  func(*probe) error
}{
	{"initialize", func(p *probe) error {
		got, err := p.do("initialize", object{"protocolVersion": 1})
		return cmp.Or(err, unless(got["protocolVersion"] == 1.0, "the protocol's version is %v, not 1", got["protocolVersion"]))
	}},
	{"session/new", func(p *probe) error {
		got, err := p.do("session/new", object{"cwd": p.dir, "mcpServers": []any{}})
		p.id, _ = got["sessionId"].(string)
		return cmp.Or(err, unless(got["modes"] != nil && got["configOptions"] != nil, "the answer has no modes or no options"))
	}},
	{"session/prompt: text", func(p *probe) error { return p.prompt("explain yourself", "", "end_turn", "demo") }},
	{"a change that you approve", func(p *probe) error {
		err := p.prompt("write hello to a.txt", "once", "end_turn", "a.txt")
		_, missing := os.Stat(filepath.Join(p.dir, "a.txt"))
		return cmp.Or(err, missing, p.got("session/request_permission", "tool_call", "tool_call_update"))
	}},
	{"a command that you deny", func(p *probe) error { return p.prompt("run touch b.txt", "deny", "end_turn", "denied") }},
	{"session/cancel", func(p *probe) error { return p.prompt("run touch c.txt", "", "cancelled", "") }},
	{"slash commands", func(p *probe) error { return p.prompt("/status", "", "end_turn", "Session") }},
	{"session/set_mode", func(p *probe) error {
		_, err := p.do("session/set_mode", object{"modeId": "plan"})
		return err
	}},
	{"session/list", func(p *probe) error {
		got, err := p.do("session/list", object{"cwd": p.dir})
		all, _ := got["sessions"].([]any)
		return cmp.Or(err, unless(len(all) == 1, "the list has %d sessions, not only this one", len(all)))
	}},
	{"session/close and session/load", func(p *probe) error {
		_, err := p.do("session/close", object{})
		if err == nil {
			p.reset("")
			_, err = p.do("session/load", object{"cwd": p.dir, "mcpServers": []any{}})
		}
		return cmp.Or(err, p.got("user_message_chunk", "agent_message_chunk"))
	}},
	{"session/delete", func(p *probe) error {
		_, err := p.do("session/delete", object{})
		return err
	}},
}

// unless returns an error with the given text unless ok is true.
func unless(ok bool, format string, args ...any) error {
	if ok {
		return nil
	}
	return fmt.Errorf(format, args...)
}

// probe acts as the editor in a check.
type probe struct {
	conn *conn
	dir  string
	id   string // of the session

	mu     sync.Mutex // guards the fields below
	text   strings.Builder
	kinds  map[string]int // numbers of requests by method, and of updates by kind
	choice string         // the answer to requests for permission; "" cancels
}

// reset discards the updates and requests recorded so far. choice is the answer to later requests for permission.
func (p *probe) reset(choice string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.choice = choice
	p.text.Reset()
	clear(p.kinds)
}

// got returns an error unless requests or updates of all the given kinds have arrived.
func (p *probe) got(kinds ...string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, kind := range kinds {
		if p.kinds[kind] == 0 {
			return fmt.Errorf("no %s came, only %v", kind, p.kinds)
		}
	}
	return nil
}

// do sends a request about the session.
func (p *probe) do(method string, params object) (result object, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), checkTime)
	defer cancel()
	params["sessionId"] = p.id
	err = p.conn.ask(ctx, method, params, &result)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("no answer within %v", checkTime)
	}
	return result, err
}

// prompt sends a prompt, and returns an error unless the stop reason is end and the answer contains the given text.
// choice is the answer to requests for permission.
func (p *probe) prompt(text, choice, end, contains string) error {
	p.reset(choice)
	got, err := p.do("session/prompt", object{"prompt": []any{textBlock(text)}})
	p.mu.Lock()
	defer p.mu.Unlock()
	return cmp.Or(err, unless(got["stopReason"] == end, "the prompt ended with %q, not %q", got["stopReason"], end),
		unless(strings.Contains(p.text.String(), contains), "the answer does not contain %q: %s", contains, clip(p.text.String())))
}

// request implements [handler] with the chosen answer.
func (p *probe) request(method string, _ json.RawMessage, answer reply) {
	p.mu.Lock()
	p.kinds[method]++
	choice := p.choice
	p.mu.Unlock()
	if choice == "" {
		p.conn.notify("session/cancel", object{"sessionId": p.id})
		answer(object{"outcome": object{"outcome": "cancelled"}}, nil)
		return
	}
	answer(object{"outcome": object{"outcome": "selected", "optionId": choice}}, nil)
}

// notify implements [handler].
func (p *probe) notify(_ string, params json.RawMessage) {
	var got struct {
		Update struct {
			Kind    string          `json:"sessionUpdate"`
			Content json.RawMessage `json:"content"`
		} `json:"update"`
	}
	if json.Unmarshal(params, &got) != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kinds[got.Update.Kind]++
	var text contentBlock
	if got.Update.Kind == "agent_message_chunk" && json.Unmarshal(got.Update.Content, &text) == nil {
		p.text.WriteString(text.Text)
	}
}
