// Package acp lets editors run sessions through the Agent Client Protocol, version 1, on stdin and stdout. Each
// session runs in a host process of its own; this process only translates between the protocol and the session's
// events and commands.
//
//	err := acp.Serve(os.Stdin, stdout, &options)
//
// This is a request from the editor, and an update that it receives, each on one line:
//
//	→ {"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"7f3a…","prompt":[{"type":"text","text":"hi"}]}}
//	← {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"7f3a…","update":{"sessionUpdate":"agent_message_chunk",…}}}
package acp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"buddy/agent/redact"
	"buddy/app/compose"
	"buddy/app/host"
	"buddy/app/version"
	"buddy/sessions"
)

const (
	// startTime limits how long a session may take to start.
	startTime = time.Minute

	// endTime limits how long a session may take to end, or to change a setting.
	endTime = 10 * time.Second
)

// server serves one editor.
type server struct {
	conn    *conn
	options *compose.Options
	slow    sync.WaitGroup // requests in goroutines of their own
	folder  sync.Mutex     // held while the working directory of this process is the one of a session

	mu       sync.Mutex // guards the fields below
	greeted  bool
	editor   clientCapabilities
	sessions map[string]*session
}

// Serve serves an editor until the editor closes its end of the connection or writing to it fails. Then idle sessions
// that this process has started end; sessions with running work continue.
func Serve(in io.Reader, out io.Writer, options *compose.Options) {
	s := &server{conn: newConn(out), options: options, sessions: make(map[string]*session)}
	go func() {
		s.conn.serve(in, s)
		s.slow.Wait() // their answers can still be read
		s.conn.cancel()
	}()
	<-s.conn.ctx.Done() // in may stay open although the editor can't be written to any more
	s.slow.Wait()       // one of them may open a session
	s.mu.Lock()
	defer s.mu.Unlock()
	var all sync.WaitGroup
	for _, one := range s.sessions {
		all.Go(one.leave)
	}
	all.Wait()
}

// slow holds the requests that may take a while. They run in their own goroutines.
var slow = map[string]func(*server, *sessionParams) (any, func(), error){
	"session/new":               func(s *server, p *sessionParams) (any, func(), error) { return s.open(p, "", false) },
	"session/load":              func(s *server, p *sessionParams) (any, func(), error) { return s.open(p, p.SessionID, true) },
	"session/resume":            func(s *server, p *sessionParams) (any, func(), error) { return s.open(p, p.SessionID, false) },
	"session/list":              (*server).list,
	"session/close":             (*server).closeSession,
	"session/delete":            (*server).deleteSession,
	"session/set_mode":          (*server).setMode,
	"session/set_config_option": (*server).setOption,
}

// request implements [handler].
func (s *server) request(method string, params json.RawMessage, answer reply) {
	run := slow[method]
	switch {
	case method == "initialize":
		answer(s.initialize(params))
		return
	case run == nil && method != "authenticate" && method != "session/prompt":
		answer(nil, failf(codeNoMethod, "unknown method %q", clip(method)))
		return
	case !s.ready():
		answer(nil, failf(codeInvalid, "%s came before initialize", method))
		return
	case method == "authenticate":
		answer(struct{}{}, nil) // logging in happens in a terminal
		return
	}
	var p sessionParams
	if err := json.Unmarshal(params, &p); err != nil {
		answer(nil, failf(codeParams, "%s: %v", method, err))
		return
	}
	if method == "session/prompt" {
		if one, err := s.find(p.SessionID); err != nil {
			answer(nil, err)
		} else {
			one.prompt(p.Prompt, answer)
		}
		return
	}
	s.slow.Go(func() {
		result, after, err := run(s, &p)
		answer(result, err)
		if err == nil && after != nil {
			after()
		}
	})
}

// notify implements [handler]. Unknown notifications are ignored.
func (s *server) notify(method string, params json.RawMessage) {
	var p sessionParams
	if method != "session/cancel" || json.Unmarshal(params, &p) != nil {
		return
	}
	if one, err := s.find(p.SessionID); err == nil {
		one.stop()
	}
}

func (s *server) ready() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.greeted
}

// initialize answers the first request.
func (s *server) initialize(params json.RawMessage) (any, error) {
	var p initializeParams
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, failf(codeParams, "initialize: %v", err)
	}
	s.mu.Lock()
	s.greeted, s.editor = true, p.ClientCapabilities
	s.mu.Unlock()
	auth := []any{}
	if p.ClientCapabilities.Auth.Terminal {
		auth = append(auth, map[string]any{"type": "terminal", "id": "login", "name": "Add an API key", "description": "asks for a provider's key in a terminal", "args": []string{"--login"}})
	}
	yes := struct{}{}
	return map[string]any{
		"protocolVersion": 1,
		"agentInfo":       map[string]string{"name": "buddy", "title": "buddy", "version": version.Number},
		"authMethods":     auth,
		"agentCapabilities": map[string]any{
			"loadSession":         true,
			"promptCapabilities":  map[string]bool{"image": true, "embeddedContext": true},
			"mcpCapabilities":     map[string]bool{"http": true, "sse": true},
			"sessionCapabilities": map[string]any{"list": yes, "resume": yes, "close": yes, "delete": yes, "additionalDirectories": yes},
		},
	}, nil
}

// find returns an open session.
func (s *server) find(id string) (*session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one := s.sessions[id]; one != nil {
		return one, nil
	}
	return nil, failf(codeNotFound, "session %q is not open here; use session/new, session/load or session/resume first", clip(id))
}

// open opens the stored session id, or a new session if id is "". With replay the editor first gets the session's
// conversation so far.
func (s *server) open(p *sessionParams, id string, replay bool) (any, func(), error) {
	if id != "" && sessions.CheckID(id) != nil {
		return nil, nil, failf(codeNotFound, "there is no session %q", clip(id))
	}
	if !filepath.IsAbs(p.Cwd) {
		return nil, nil, failf(codeParams, "cwd must be an absolute path, not %q", clip(p.Cwd))
	}
	s.mu.Lock()
	old, forms := s.sessions[id], s.editor.forms()
	delete(s.sessions, id)
	s.mu.Unlock()
	one := &session{conn: s.conn, forms: forms, asked: make(map[string]context.CancelFunc)}
	if old != nil { // it is opened again
		one.secret = old.process.Secret
		old.process.Leave()
	}
	done, err := s.start(one, p, id)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeout(s.conn.ctx, startTime)
	defer cancel()
	answer, err := one.begin(ctx, id != "", replay)
	done(err == nil)
	if err != nil {
		if one.batches != nil {
			go func() {
				for range one.batches { // the answer that leave waits for comes behind them
				}
			}()
		}
		one.leave()
		return nil, nil, err
	}
	s.mu.Lock()
	s.sessions[one.id] = one
	s.mu.Unlock()
	if id == "" {
		answer.SessionID = one.id
	}
	return answer, func() { one.follow(len(p.MCPServers) > 0) }, nil
}

// start starts the host of a session, or connects to a running host. The caller must call done, and tell it whether the
// session has begun.
func (s *server) start(one *session, p *sessionParams, id string) (done func(began bool), err error) {
	options := *s.options
	if options.Servers, err = serversOf(p.MCPServers); err != nil {
		return nil, err
	}
	leave, err := s.enter(p.Cwd)
	if err != nil {
		return nil, err
	}
	defer leave()
	options.Also = slices.Concat(options.Also, p.AdditionalDirectories)
	if options.Dir == "" && len(options.Targets) == 0 && options.SSH == "" && options.Container == "" {
		options.Dir = p.Cwd
	}
	d, err := compose.NewDestination(&options)
	if err != nil {
		return nil, err
	}
	defer d.Close() //nolint:errcheck // nothing was connected
	if id != "" {
		options.Worktree = "" // the session has its folder
	}
	drop, err := compose.EnterWorktree(&options, "", func(format string, args ...any) {
		one.notes = append(one.notes, fmt.Sprintf(format, args...))
	})
	if err != nil {
		return nil, err
	}
	done = func(began bool) {
		if began {
			compose.WorktreeStarted(&options)
		}
		drop()
	}
	if err := s.launch(one, &options, d.Name, id); err != nil {
		done(false)
		return nil, err
	}
	return done, nil
}

// launch starts the host of a session on a target, or connects to a running host.
func (s *server) launch(one *session, options *compose.Options, target, id string) (err error) {
	if one.setup, err = compose.NewSetup(options, target, id); err != nil {
		if id != "" {
			return failf(codeNotFound, "%v", err)
		}
		return err
	}
	if c := one.setup.Config; one.setup.Problem != "" && (c.Active == nil || c.Active.Bundled()) {
		return failf(codeAuthRequired, "%s", compose.NoModel(options, c))
	}
	one.redact = redact.New(one.setup.Config.Secrets()...).Text
	one.id, options.Session = one.setup.ID, one.setup.ID
	one.process, err = host.StartForEditor(options, one.setup.Store, id != "", one.secret)
	return err
}

// enter makes a folder the working directory of this process, for one session at a time, until leave is called.
func (s *server) enter(dir string) (leave func(), err error) {
	s.folder.Lock()
	back, err := os.Getwd()
	if err != nil {
		back = "/"
	}
	if err := os.Chdir(dir); err != nil {
		s.folder.Unlock()
		return nil, failf(codeParams, "cwd: %v", err)
	}
	return func() {
		_ = os.Chdir(back) // each session enters its own folder first
		s.folder.Unlock()
	}, nil
}

// list lists the stored sessions of a folder, or of all folders.
func (s *server) list(p *sessionParams) (any, func(), error) {
	stores, err := s.stores(p.Cwd)
	if err != nil {
		return nil, nil, err
	}
	all := []sessionInfo{}
	for _, store := range stores {
		entries, err := store.List()
		if err != nil {
			return nil, nil, err
		}
		for _, e := range entries {
			if e.Problem == "" && (p.Cwd == "" || compose.WorksFor(e.Header.Cwd, p.Cwd)) {
				all = append(all, sessionInfo{e.ID, e.Header.Cwd, clean(e.Title), e.Used.UTC().Format(time.RFC3339)})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b sessionInfo) int { return strings.Compare(b.UpdatedAt, a.UpdatedAt) })
	return page(all, p.Cursor)
}

// pageSize is the number of sessions in one answer.
const pageSize = 200

// page returns a page of sessions. cursor is the id of the previous page's last session, "" for the first page.
func page(all []sessionInfo, cursor string) (any, func(), error) {
	if cursor != "" {
		i := slices.IndexFunc(all, func(one sessionInfo) bool { return one.SessionID == cursor })
		if i < 0 {
			return nil, nil, failf(codeParams, "unknown cursor %q; list again without one", clip(cursor))
		}
		all = all[i+1:]
	}
	answer := map[string]any{"sessions": all}
	if len(all) > pageSize {
		answer["sessions"], answer["nextCursor"] = all[:pageSize], all[pageSize-1].SessionID
	}
	return answer, nil, nil
}

// stores returns the session stores of a folder, or all stores if cwd is "".
func (s *server) stores(cwd string) ([]sessions.Store, error) {
	if cwd == "" {
		return sessions.Folders()
	}
	leave, err := s.enter(cwd)
	if err != nil {
		return nil, err
	}
	defer leave()
	store, err := compose.Sessions()
	return append([]sessions.Store{store}, store.Others()...), err
}

// closeSession disconnects from a session.
func (s *server) closeSession(p *sessionParams) (any, func(), error) {
	one, err := s.find(p.SessionID)
	if err != nil {
		return nil, nil, err
	}
	s.forget(one)
	one.leave()
	return struct{}{}, nil, nil
}

func (s *server) forget(one *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, one.id)
}

// deleteSession moves a session to the trash. It succeeds if the session does not exist.
func (s *server) deleteSession(p *sessionParams) (any, func(), error) {
	if err := sessions.CheckID(p.SessionID); err != nil {
		return nil, nil, failf(codeParams, "%v", err)
	}
	if one, err := s.find(p.SessionID); err == nil {
		s.forget(one)
		if err := one.close(); err != nil {
			return nil, nil, err
		}
	}
	stores, err := sessions.Folders()
	if err != nil {
		return nil, nil, err
	}
	for _, store := range stores {
		if _, err := os.Lstat(store.File(p.SessionID)); err != nil {
			continue
		}
		if _, err := store.Remove(p.SessionID); err != nil {
			return nil, nil, err
		}
	}
	return struct{}{}, nil, nil
}
