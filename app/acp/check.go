package acp

import (
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

// checkTime limits each step of a check.
const checkTime = 20 * time.Second

// Check runs a session with the built-in demo through the protocol, as an editor would, and prints a line for each step
// to out. The session and its folder are deleted afterwards.
func Check(options *compose.Options, out io.Writer) error {
	demo := *options
	demo.Model, demo.Approve = model.Demo, ""
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
	p := &probe{conn: newConn(fromEditor), dir: dir, out: out}
	var ends sync.WaitGroup
	ends.Go(func() { Serve(toServer, fromServer, &demo); _ = fromServer.Close() })
	ends.Go(func() { p.conn.serve(toEditor, p); p.conn.cancel() })
	for _, s := range p.steps() {
		if err = p.step(s.name, s.run); err != nil {
			break
		}
	}
	_ = fromEditor.Close()
	ends.Wait()
	return err
}

// probe is the editor of a check.
type probe struct {
	conn *conn
	dir  string
	out  io.Writer
	id   string // of the session

	mu     sync.Mutex // guards the fields below
	text   strings.Builder
	kinds  map[string]int // numbers of updates by kind
	choice string         // the answer to requests for permission; "" cancels
	asked  int
}

type step struct {
	name string
	run  func(context.Context) error
}

// steps returns the steps of a check, in order.
func (p *probe) steps() []step {
	return []step{
		{"initialize", p.initialize},
		{"session/new", p.begin},
		{"session/prompt: text", func(ctx context.Context) error { return p.prompt(ctx, "explain yourself", "", "end_turn", "demo") }},
		{"a change that you approve", p.approve},
		{"a command that you deny", func(ctx context.Context) error { return p.prompt(ctx, "run touch b.txt", "deny", "end_turn", "denied") }},
		{"session/cancel", func(ctx context.Context) error { return p.prompt(ctx, "run touch c.txt", "", "cancelled", "") }},
		{"slash commands", func(ctx context.Context) error { return p.prompt(ctx, "/status", "", "end_turn", "Session") }},
		{"session/set_mode", func(ctx context.Context) error {
			return p.ask(ctx, "session/set_mode", map[string]any{"sessionId": p.id, "modeId": "plan"}, nil)
		}},
		{"session/list", p.list},
		{"session/close and session/load", p.load},
		{"session/delete", func(ctx context.Context) error {
			return p.ask(ctx, "session/delete", map[string]any{"sessionId": p.id}, nil)
		}},
	}
}

// step runs a step and prints its result.
func (p *probe) step(name string, run func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), checkTime)
	defer cancel()
	began := time.Now()
	err := run(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("no answer within %v", checkTime)
	}
	if err != nil {
		_, _ = fmt.Fprintf(p.out, "FAILED  %s\n", name)
		return fmt.Errorf("%s: %w", name, err)
	}
	_, err = fmt.Fprintf(p.out, "ok  %-32s %5d ms\n", name, time.Since(began).Milliseconds())
	return err
}

func (p *probe) ask(ctx context.Context, method string, params, result any) error {
	var none any
	if result == nil {
		result = &none
	}
	return p.conn.ask(ctx, method, params, result)
}

func (p *probe) initialize(ctx context.Context) error {
	var got struct {
		Version int `json:"protocolVersion"`
	}
	err := p.ask(ctx, "initialize", map[string]any{"protocolVersion": 1, "clientCapabilities": map[string]any{}}, &got)
	if err == nil && got.Version != 1 {
		err = fmt.Errorf("the protocol's version is %d, not 1", got.Version)
	}
	return err
}

func (p *probe) begin(ctx context.Context) error {
	var got opened
	err := p.ask(ctx, "session/new", map[string]any{"cwd": p.dir, "mcpServers": []any{}}, &got)
	if p.id = got.SessionID; err == nil && (got.Modes == nil || len(got.Options) == 0) {
		err = errors.New("the answer has no modes or no options")
	}
	return err
}

// prompt sends a prompt and compares its end and its text. choice answers requests for permission.
func (p *probe) prompt(ctx context.Context, text, choice, end, contains string) error {
	p.mu.Lock()
	p.choice = choice
	p.text.Reset()
	p.mu.Unlock()
	var got struct {
		Reason string `json:"stopReason"`
	}
	err := p.ask(ctx, "session/prompt", map[string]any{"sessionId": p.id, "prompt": []any{textBlock(text)}}, &got)
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case err != nil:
		return err
	case got.Reason != end:
		return fmt.Errorf("the prompt ended with %q, not %q", got.Reason, end)
	case !strings.Contains(p.text.String(), contains):
		return fmt.Errorf("the answer does not contain %q: %s", contains, clip(p.text.String()))
	}
	return nil
}

// approve lets the demo write a file.
func (p *probe) approve(ctx context.Context) error {
	if err := p.prompt(ctx, "write hello to a.txt", "once", "end_turn", "a.txt"); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(p.dir, "a.txt")); err != nil {
		return fmt.Errorf("the approved change was not made: %w", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.asked == 0 || p.kinds["tool_call"] == 0 || p.kinds["tool_call_update"] == 0 {
		return fmt.Errorf("the updates are incomplete: %v", p.kinds)
	}
	return nil
}

func (p *probe) list(ctx context.Context) error {
	var got struct {
		Sessions []sessionInfo `json:"sessions"`
	}
	err := p.ask(ctx, "session/list", map[string]any{"cwd": p.dir}, &got)
	if err == nil && (len(got.Sessions) != 1 || got.Sessions[0].SessionID != p.id) {
		err = fmt.Errorf("the list has %d sessions, not only this one", len(got.Sessions))
	}
	return err
}

func (p *probe) load(ctx context.Context) error {
	if err := p.ask(ctx, "session/close", map[string]any{"sessionId": p.id}, nil); err != nil {
		return err
	}
	p.mu.Lock()
	p.text.Reset()
	p.mu.Unlock()
	if err := p.ask(ctx, "session/load", map[string]any{"sessionId": p.id, "cwd": p.dir, "mcpServers": []any{}}, nil); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.kinds["user_message_chunk"] == 0 || !strings.Contains(p.text.String(), "demo") {
		return errors.New("the conversation was not repeated")
	}
	return nil
}

// request implements [handler] with the chosen answer.
func (p *probe) request(method string, _ json.RawMessage, answer reply) {
	if method != "session/request_permission" {
		answer(nil, failf(codeNoMethod, "unknown method %q", method))
		return
	}
	p.mu.Lock()
	p.asked++
	choice := p.choice
	p.mu.Unlock()
	if choice == "" {
		p.conn.notify("session/cancel", map[string]any{"sessionId": p.id})
		answer(map[string]any{"outcome": map[string]any{"outcome": "cancelled"}}, nil)
		return
	}
	answer(map[string]any{"outcome": map[string]any{"outcome": "selected", "optionId": choice}}, nil)
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
	if p.kinds == nil {
		p.kinds = make(map[string]int)
	}
	p.kinds[got.Update.Kind]++
	var text contentBlock
	if got.Update.Kind == "agent_message_chunk" && json.Unmarshal(got.Update.Content, &text) == nil {
		p.text.WriteString(text.Text)
	}
}
