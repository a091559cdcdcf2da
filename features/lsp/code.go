package lsp

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/creachadair/jrpc2"

	"buddy/agent/action"
	"buddy/texts"
	"buddy/tools"
	"buddy/tools/file"
)

//go:embed code.md
var codeText string

// maxAnswer limits the decoded answers of servers, in bytes.
const maxAnswer = 4 << 20

// codeArgs are the arguments of code. A position is a line and a text in it, because models count columns wrong.
type codeArgs struct {
	Action  string `json:"action"`
	Path    string `json:"path,omitempty"`
	Line    int    `json:"line,omitempty" min:"1"`
	Symbol  string `json:"symbol,omitempty"`
	NewName string `json:"new_name,omitempty"`
	Why     string `json:"why,omitempty" schema:"-"`
}

// The actions of code.
const (
	toDefinition = "definition"
	toReferences = "references"
	toSymbols    = "symbols"
	toHover      = "hover"
	toRename     = "rename"
)

// check returns an ErrArguments if an argument of the action is missing.
func (a codeArgs) check() error {
	all := []string{toDefinition, toReferences, toSymbols, toHover, toRename}
	switch {
	case !slices.Contains(all, a.Action):
		return tools.Invalid("action: expected one of %s, got %q", strings.Join(all, ", "), texts.ClipBytes(a.Action, 60))
	case a.Action == toSymbols && a.Path == "" && a.Symbol == "":
		return tools.Invalid("symbols needs path to list the symbols of a file, or symbol to search the whole project")
	case a.Action != toSymbols && (a.Path == "" || a.Line == 0 || a.Symbol == ""):
		return tools.Invalid("%s needs path, line (from 1) and symbol, a text in that line", a.Action)
	case a.Action == toRename && strings.TrimSpace(a.NewName) == "":
		return tools.Invalid("rename needs new_name")
	}
	return nil
}

type codeTool struct {
	all   *Clients
	files *file.Workspace
	tools.Typed[codeArgs]
}

// CodeTool returns the tool that asks running servers about symbols, and renames them. files is the workspace on this
// machine; the tool that only describes itself needs none.
func (c *Clients) CodeTool(files *file.Workspace) tools.Tool {
	return tools.New(&codeTool{all: c, files: files}, "code", codeText)
}

func (t *codeTool) PlanArgs(args codeArgs) (action.Action, error) { return t.PlanFor(0, args) }

// PlanFor returns the plan of a call: a read of the file or the project, or the edit of all files that a rename changes.
// reader is as in [tools.Call].
func (t *codeTool) PlanFor(reader int, args codeArgs) (action.Action, error) {
	if err := args.check(); err != nil {
		return action.Action{}, err
	}
	if err := t.all.here(); err != nil {
		return action.Action{}, tools.Failed(fmt.Errorf("%w; use grep", err))
	}
	if args.Action != toRename {
		return file.PlanRead(t.files, t.Name(), args.Path, args.Why)
	}
	ctx, done := tools.PlanContext()
	defer done()
	all, err := t.rename(ctx, args)
	if err != nil {
		return action.Action{}, tools.Failed(err)
	}
	return file.PlanTexts(t.files, reader, args.Why, all)
}

// Parallel reports whether the call only reads.
func (t *codeTool) Parallel(call tools.Call) bool { return call.Planned.Kind == action.FileRead }

func (t *codeTool) RunArgs(ctx context.Context, call tools.Call, args codeArgs) tools.Result {
	if args.Action == toRename {
		all, err := t.rename(ctx, args)
		if err != nil {
			return tools.Failure(err)
		}
		return file.WriteTexts(ctx, t.files, call, fmt.Sprintf("Renamed %s to %s in", args.Symbol, args.NewName), all)
	}
	text, note, err := t.read(ctx, call, args)
	if err != nil {
		return tools.Failure(err)
	}
	return tools.Success(text, note)
}

// read runs an action that only reads. note is a remark on the text.
func (t *codeTool) read(ctx context.Context, call tools.Call, args codeArgs) (text, note string, err error) {
	path := call.Planned.Path
	if args.Action == toSymbols && args.Symbol != "" {
		return t.search(ctx, call, args)
	}
	var q question
	if args.Action == toSymbols {
		q, err = t.questionOn(ctx, path)
	} else {
		q, err = t.questionAt(ctx, path, args)
	}
	if err != nil {
		return "", "", err
	}
	method := map[string]string{toDefinition: "definition", toReferences: "references", toSymbols: "documentSymbol", toHover: "hover"}[args.Action]
	if args.Action == toReferences {
		q.params.Context = &referenceContext{Declaration: true}
	}
	raw, err := q.server.query(ctx, "textDocument/"+method, q.params)
	if err != nil {
		return "", "", err
	}
	if args.Action == toHover {
		text, err = hoverText(raw, call.PageBytes())
	} else {
		var places []sourceLine
		if places, err = placesIn(raw, path); err == nil {
			text, note = t.lines(places, call.PageBytes())
		}
	}
	if err != nil {
		return "", "", fmt.Errorf("%s sent an invalid answer: %s", q.server.def.Name, oneLine(err.Error()))
	}
	if text == "" {
		note = q.server.nothing(args.Action)
	}
	return text, join(note, q.note), nil
}

// search looks for symbols in the whole project: with the server of a file, or with all servers.
func (t *codeTool) search(ctx context.Context, call tools.Call, args codeArgs) (text, note string, err error) {
	all := t.all.running()
	if args.Path != "" {
		q, err := t.questionOn(ctx, call.Planned.Path)
		if err != nil {
			return "", "", err
		}
		all = []*server{q.server}
	}
	if len(all) == 0 {
		return "", "", errors.New("no language server is running: one starts when a file of its language is first changed; use grep until then")
	}
	var places []sourceLine
	var failed, empty []string
	for _, s := range all {
		raw, err := s.query(ctx, "workspace/symbol", symbolParams{Query: &args.Symbol})
		var found []sourceLine
		if err == nil {
			found, err = placesIn(raw, "")
		}
		if err != nil {
			failed = append(failed, oneLine(err.Error()))
			continue
		}
		if places = append(places, found...); len(found) == 0 {
			empty = append(empty, s.nothing(args.Action))
		}
	}
	if len(failed) == len(all) {
		return "", "", errors.New(strings.Join(failed, "; "))
	}
	text, note = t.lines(places, call.PageBytes())
	return text, join(append(append([]string{note}, failed...), empty...)...), nil
}

// join joins the remarks that are not empty.
func join(remarks ...string) string {
	return strings.Join(slices.DeleteFunc(remarks, func(r string) bool { return r == "" }), "; ")
}

// question is a request about a file to its server.
type question struct {
	server *server
	params symbolParams
	note   string
}

// questionOn returns a question about a whole file, after the server has got its present text.
func (t *codeTool) questionOn(ctx context.Context, path string) (question, error) {
	if !t.all.inside(path) {
		return question{}, fmt.Errorf("%q is not in the folders of this session: language servers are not asked about it", path)
	}
	s, err := t.all.upToDate(ctx, path)
	if err != nil {
		return question{}, fmt.Errorf("%w; use grep", err)
	}
	return question{server: s, params: symbolParams{Document: &docID{uriOf(path)}}}, nil
}

// questionAt returns a question about a symbol in a file.
func (t *codeTool) questionAt(ctx context.Context, path string, args codeArgs) (question, error) {
	q, err := t.questionOn(ctx, path)
	if err != nil {
		return q, err
	}
	text, _, open := q.server.present().opened(path)
	if !open {
		return q, fmt.Errorf("%s has closed %s: try again", q.server.def.Name, t.all.show(path))
	}
	at, note, err := symbolAt(text, args.Line, args.Symbol)
	if err != nil {
		return q, fmt.Errorf("%s: %w", t.all.show(path), err)
	}
	q.params.Position, q.note = &at, note
	return q, nil
}

// query sends a request to a server, again if it was not ready. Its errors are for the model.
func (s *server) query(ctx context.Context, method string, params symbolParams) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(ctx, toolTime)
	defer cancel()
	settled, _ := s.settling()
	select {
	case <-settled:
	case <-ctx.Done():
		return nil, fmt.Errorf("%s is still busy", s.def.Name)
	}
	conn := s.connection()
	if conn == nil {
		return nil, fmt.Errorf("language server %s is not running", s.def.Name)
	}
	for {
		raw, err := conn.ask(ctx, method, params)
		if err == nil || !retriable(err) || ctx.Err() != nil {
			return raw, s.problem(ctx, method, raw, err)
		}
		select {
		case <-time.After(pullPause):
		case <-ctx.Done():
		}
	}
}

// problem describes why a request failed, or returns nil.
func (s *server) problem(ctx context.Context, method string, raw json.RawMessage, err error) error {
	name := s.def.Name
	e, refused := errors.AsType[*jrpc2.Error](err)
	switch {
	case err == nil && len(raw) > maxAnswer:
		return fmt.Errorf("%s sent an answer of %.1f MB (at most %d): use grep", name, float64(len(raw))/1e6, maxAnswer/1_000_000)
	case err == nil:
		return nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("%s did not answer within %v: use grep", name, toolTime)
	case ctx.Err() != nil:
		return ctx.Err()
	case refused && e.Code == jrpc2.MethodNotFound:
		return fmt.Errorf("%s does not support %s: use grep", name, method)
	case refused:
		return fmt.Errorf("%s refuses: %s", name, oneLine(e.Message))
	}
	return fmt.Errorf("%s failed: %s", name, oneLine(err.Error()))
}

// nothing describes an empty answer.
func (s *server) nothing(action string) string {
	text := s.def.Name + " found no " + action
	if action == toHover {
		text = s.def.Name + " has no text about it"
	}
	if c := s.connection(); c != nil {
		if busy, _ := c.busy(); busy {
			text += ", but is still reading the project"
		}
	}
	return text
}
