package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/creachadair/jrpc2"

	"buddy/texts"
	"buddy/tmux/host/child"
)

// link holds the pipes and the process of a running server; a [child.Process] is one.
type link interface {
	Stdin() io.WriteCloser
	Stdout() io.Reader
	Done() <-chan struct{}
	Ended() string
	Stop()
	Resident() (int64, error)
}

// connection is the connection to a server from its start to its end; a restarted server gets a new one.
type connection struct {
	def  Server
	root string
	link link
	wire *wire
	rpc  *jrpc2.Client
	over chan struct{} // closed when the connection has ended
	to   events

	mu       sync.Mutex      // guards the fields below
	pulls    bool            // the server wants to be asked for diagnostics
	progress map[string]bool // announced work that has not ended
	rested   time.Time       // when the last work ended
}

// connect performs the handshake with a server that was just started, within def.Start. messages limits the messages
// that the server may send in a second.
func connect(ctx context.Context, def Server, root string, l link, to events, messages int) (*connection, error) {
	c := &connection{def: def, root: root, link: l, to: to, over: make(chan struct{}), progress: make(map[string]bool)}
	c.wire = newWire(l.Stdout(), l.Stdin(), messages)
	c.wire.passed, c.wire.notify = to.passed, c.notified
	c.rpc = jrpc2.NewClient(c.wire, &jrpc2.ClientOptions{
		OnCallback: c.asked,
		OnCancel:   cancelRequest,
		OnStop:     func(*jrpc2.Client, error) { close(c.over) },
	})
	ctx, cancel := context.WithTimeout(ctx, def.Start)
	defer cancel()
	err := c.initialize(ctx)
	if err == nil {
		return c, nil
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = fmt.Errorf("it did not answer within %v", def.Start)
	} else {
		err = c.explain(err)
	}
	c.stop()
	return nil, err
}

// events are callbacks for the output of a server.
type events struct {
	published func(publishParams)
	passed    func(barrier int)
	changed   func() // wakes waiting goroutines, whose condition may be met now
}

// initialize performs the handshake.
func (c *connection) initialize(ctx context.Context) error {
	root := uriOf(c.root)
	params := initializeParams{
		Process: os.Getpid(), Client: map[string]any{"name": "buddy"}, Root: root,
		Folders: []folder{{URI: root, Name: filepath.Base(c.root)}}, Capabilities: capabilities(), Options: c.def.Init,
	}
	var result initializeResult
	if err := c.rpc.CallResult(ctx, "initialize", params, &result); err != nil {
		return err
	}
	c.mu.Lock()
	c.pulls = c.pulls || given(result.Capabilities.Pull)
	c.mu.Unlock()
	if err := c.rpc.Notify(ctx, "initialized", struct{}{}); err != nil {
		return err
	}
	settings := c.def.Settings
	if settings == nil {
		settings = json.RawMessage("{}")
	}
	return c.rpc.Notify(ctx, "workspace/didChangeConfiguration", map[string]any{"settings": settings})
}

// given reports whether a server declares a capability.
func given(capability json.RawMessage) bool {
	text := strings.TrimSpace(string(capability))
	return text != "" && text != "null" && text != "false"
}

// notified handles a notification of the server.
func (c *connection) notified(method string, params json.RawMessage) {
	switch method {
	case "textDocument/publishDiagnostics":
		var p publishParams
		if json.Unmarshal(params, &p) == nil {
			c.to.published(p)
		}
	case "$/progress":
		var p struct {
			Token json.RawMessage `json:"token"`
			Value struct {
				Kind string `json:"kind"`
			} `json:"value"`
		}
		if json.Unmarshal(params, &p) != nil {
			return
		}
		c.mu.Lock()
		switch p.Value.Kind {
		case "begin":
			if len(c.progress) < maxProgress {
				c.progress[string(p.Token)] = true
			}
		case "end":
			delete(c.progress, string(p.Token))
			c.rested = time.Now()
		}
		c.mu.Unlock()
		c.to.changed()
	}
}

// maxProgress limits the announced tasks of a server that are tracked.
const maxProgress = 100

// busy reports whether the server does work that it announced, and when such work last ended.
func (c *connection) busy() (now bool, until time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.progress) > 0, c.rested
}

// asked answers a call of the server; many servers wait for the answer.
func (c *connection) asked(_ context.Context, r *jrpc2.Request) (any, error) {
	switch r.Method() {
	case "workspace/configuration":
		var p struct {
			Items []struct {
				Section string `json:"section"`
			} `json:"items"`
		}
		if err := r.UnmarshalParams(&p); err != nil {
			return nil, err
		}
		values := make([]any, len(p.Items))
		for i, item := range p.Items {
			values[i] = section(c.def.Settings, item.Section)
		}
		return values, nil
	case "client/registerCapability":
		var p struct {
			All []struct {
				Method string `json:"method"`
			} `json:"registrations"`
		}
		if err := r.UnmarshalParams(&p); err != nil {
			return nil, err
		}
		for _, one := range p.All {
			if one.Method == "textDocument/diagnostic" {
				c.mu.Lock()
				c.pulls = true
				c.mu.Unlock()
				c.to.changed()
			}
		}
		return nil, nil
	case "workspace/workspaceFolders":
		return []folder{{URI: uriOf(c.root), Name: filepath.Base(c.root)}}, nil
	case "workspace/applyEdit":
		return map[string]any{"applied": false, "failureReason": "this client applies no edits of servers"}, nil
	case "window/showDocument":
		return map[string]any{"success": false}, nil
	case "client/unregisterCapability", "window/workDoneProgress/create", "window/showMessageRequest", "workspace/diagnostic/refresh":
		return nil, nil
	}
	return nil, jrpc2.Errorf(jrpc2.MethodNotFound, "%s is not known here", texts.Clip(r.Method(), 100))
}

// section returns the settings under a name like "a.b", or nil.
func section(settings json.RawMessage, name string) any {
	var value any
	if settings == nil || json.Unmarshal(settings, &value) != nil {
		return nil
	}
	if name == "" {
		return value
	}
	for part := range strings.SplitSeq(name, ".") {
		table, _ := value.(map[string]any)
		value = table[part] // a nil map returns nil
	}
	return value
}

// isPulling reports whether the server wants to be asked for diagnostics.
func (c *connection) isPulling() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pulls
}

// pull asks for the diagnostics of a file, and returns them by URI.
func (c *connection) pull(ctx context.Context, uri string) (map[string][]diagnostic, error) {
	var r pullReport
	if err := c.rpc.CallResult(ctx, "textDocument/diagnostic", pullParams{docID{uri}}, &r); err != nil {
		return nil, err
	}
	all := map[string][]diagnostic{}
	for other, one := range r.Related {
		if one.Kind != "unchanged" {
			all[other] = one.Items
		}
	}
	if r.Kind != "unchanged" {
		all[uri] = r.Items
	}
	return all, nil
}

// cancelRequest informs the server that nobody waits for an answer any longer.
func cancelRequest(rpc *jrpc2.Client, r *jrpc2.Response) {
	_ = rpc.Notify(context.Background(), "$/cancelRequest", map[string]any{"id": json.RawMessage(r.ID())}) // the server may be gone
}

// ask sends a request and returns the result. It returns when ctx ends even if the server does not read.
func (c *connection) ask(ctx context.Context, method string, params any) (json.RawMessage, error) {
	type answer struct {
		result json.RawMessage
		err    error
	}
	answers := make(chan answer, 1)
	go func() {
		var a answer
		a.err = c.rpc.CallResult(ctx, method, params, &a.result)
		answers <- a
	}()
	select {
	case a := <-answers:
		return a.result, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// partingTime limits how long a server may take to answer a shutdown.
const partingTime = 500 * time.Millisecond

// stop ends the server and all processes that it started.
func (c *connection) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), partingTime)
	defer cancel()
	answered := make(chan struct{})
	go func() { // so that a server that does not read can't block stop
		defer close(answered)
		if _, err := c.rpc.Call(ctx, "shutdown", nil); err == nil {
			_ = c.rpc.Notify(ctx, "exit", nil)
		}
	}()
	select {
	case <-answered:
	case <-ctx.Done():
	case <-c.link.Done():
	}
	c.link.Stop()
	_ = c.rpc.Close() // the reason of its end is known
}

// explain describes why the connection failed, for people.
func (c *connection) explain(err error) error {
	if broken := c.wire.broken(); broken != nil {
		return broken
	}
	select {
	case <-c.link.Done():
	case <-time.After(time.Second): // a program that is about to end has a second to do so
		return errors.New(oneLine(err.Error()))
	}
	return errors.New(oneLine(c.link.Ended()))
}

// start starts the program of a server.
func start(ctx context.Context, def Server, root string, o Options) (link, error) {
	if o.Checked != nil {
		var err error
		if def, err = o.Checked(def, root); err != nil {
			return nil, err
		}
	}
	env := slices.Concat(o.Env, def.Env)
	for _, name := range def.Pass {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	var within child.Holder
	if o.Hold != nil && !def.Outside {
		var err error
		if within, err = o.Hold(def); err != nil {
			_ = os.RemoveAll(def.Copies) // "" is ignored
			return nil, err
		}
	}
	return child.Start(ctx, child.Spec{Name: "language server " + def.Name, Command: def.Command, Dir: root, Env: env, State: o.State, Temp: def.Copies, Within: within})
}

// maxMessage limits the text of a diagnostic, in bytes.
const maxMessage = 300

// oneLine shortens text of a server to a part of a line, without escape sequences.
func oneLine(text string) string { return texts.ClipBytes(texts.OneLine(plain(text)), maxMessage) }
