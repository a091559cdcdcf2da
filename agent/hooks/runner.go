package hooks

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/policy"
	"buddy/agent/redact"
	"buddy/agent/stream"
	"buddy/texts"
	"buddy/tmux/host/child"
)

// Options configure a Runner. The zero value runs nothing.
type Options struct {
	Handlers   []Handler // in order
	Problems   []Problem // what was left out, for the list
	Policy     policy.Policy
	Session    string
	Transcript string   // the session's file
	Cwd        string   // working directory of hooks
	Project    string   // the project's folder
	State      string   // folder in which processes are recorded, see [child.Spec]
	OutDir     string   // folder for long texts; "" cuts them
	Env        []string // NAME=value, added to the minimal environment of every hook
	// Trusted returns the hook to run, or an error if the hook has changed since the user trusted it. The returned hook
	// runs copies of the files that were checked. Trusted is called before each run of a project's hook; nil trusts all
	// hooks.
	Trusted func(Handler) (Handler, error)
	Redact  *redact.Redactor
	// Hold returns the sandbox for a hook, or nil outside of auto mode. It is not called for hooks that run outside the
	// sandbox in every mode. If Hold is nil, no hook runs in a sandbox.
	Hold func(Handler) (child.Holder, error)
}

// Runner runs hooks. It is safe for concurrent use; a nil Runner has no hooks.
type Runner struct {
	o      Options
	stream *stream.Stream
	ctx    context.Context // of hooks that nobody waits for
	cancel context.CancelFunc
	async  sync.WaitGroup
	start  beginning
	list   atomic.Pointer[list]

	mu     sync.Mutex // guards the fields below and list.ran
	passed map[string]bool
	later  []string // texts for the model from asynchronous hooks
	busy   int      // number of running asynchronous hooks
	texts  int      // number of files with long texts
	live   map[*child.Process]struct{}
	closed bool
	leaves string // why the session ends; "" if unknown
}

// list holds the hooks until Replace sets new ones. An event that has started keeps using its list.
type list struct {
	Set
	trusted func(Handler) (Handler, error) // see Options
	ran     []Run                          // by handler, the last run; guarded by Runner.mu
}

// Run counts the runs of a hook and holds the result of the last one.
type Run struct {
	Times   int
	Outcome string
	Failure string // of the last run that failed
	Took    time.Duration
}

// Where holds the position in a session at which a hook runs.
type Where struct {
	Task, Turn int
	Mode       action.Mode
	Agent      string // id of the subagent; "" for the main agent
	AgentType  string
}

// New returns a runner.
func New(o Options) *Runner {
	r := &Runner{o: o, passed: make(map[string]bool), live: make(map[*child.Process]struct{})}
	r.list.Store(&list{Set{o.Handlers, o.Problems}, o.Trusted, make([]Run, len(o.Handlers))})
	r.ctx, r.cancel = context.WithCancel(context.Background())
	if o.State != "" && len(o.Handlers) > 0 {
		r.async.Go(func() { _, _ = child.Sweep(o.State) }) // processes of a killed buddy
	}
	return r
}

// Replace sets the hooks for later events, and the function that checks whether they are trusted. Running hooks
// continue. Hooks that are in both sets keep the record of their runs.
func (r *Runner) Replace(s Set, trusted func(Handler) (Handler, error)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before, now := r.list.Load(), &list{s, trusted, make([]Run, len(s.Handlers))}
	for i, h := range now.Handlers {
		was := slices.IndexFunc(before.Handlers, func(b Handler) bool {
			return b.Event == h.Event && b.Matcher == h.Matcher && b.If == h.If && b.Origin == h.Origin && b.same(h)
		})
		if was >= 0 {
			now.ran[i] = before.ran[was]
		}
	}
	r.list.Store(now)
}

// Bind sets the stream that gets the events of hooks. Call it before any hook runs.
func (r *Runner) Bind(s *stream.Stream) {
	if r != nil {
		r.stream = s
	}
}

// Has reports whether there is a hook for an event. It allocates nothing.
func (r *Runner) Has(e Event) bool {
	if r == nil {
		return false
	}
	all := r.list.Load().Handlers
	for i := range all {
		if all[i].Event == e {
			return true
		}
	}
	return false
}

// Wants reports whether a hook would run for an event of this kind. The event must not be about a tool call. Wants
// allocates nothing.
func (r *Runner) Wants(e Event, kind string) bool {
	if r == nil {
		return false
	}
	all := r.list.Load().Handlers
	for i := range all {
		if h := &all[i]; h.Event == e && h.match.matches(kind) {
			return true
		}
	}
	return false
}

// Guards reports whether a hook may decide about a call before it runs. It allocates nothing without PreToolUse hooks.
func (r *Runner) Guards(c Call) bool {
	if !r.Has(PreToolUse) {
		return false
	}
	inner := c.inner()
	return slices.ContainsFunc(r.list.Load().Handlers, func(h Handler) bool { return h.Event == PreToolUse && h.match.selects(inner) })
}

// BeforeTools runs the hooks before calls, for all calls in parallel, and returns one answer per call. A hook with Once
// runs for the first call that it matches.
func (r *Runner) BeforeTools(ctx context.Context, at Where, calls ...Call) []Answer {
	answers := make([]Answer, len(calls))
	var all sync.WaitGroup
	for i, c := range calls {
		m := r.chooseForTool(PreToolUse, c, nil)
		all.Go(func() { answers[i] = r.merge(c, r.run(ctx, at, m)) })
	}
	all.Wait()
	return answers
}

// Permission runs the hooks that may approve or deny a call, before the user is asked.
func (r *Runner) Permission(ctx context.Context, at Where, c Call) Answer {
	return r.merge(c, r.run(ctx, at, r.chooseForTool(PermissionRequest, c, nil)))
}

// AfterTool runs the hooks that examine the result of a call.
func (r *Runner) AfterTool(ctx context.Context, at Where, c Call, response Response) Answer {
	e := PostToolUse
	if response.Failed || response.ExitCode != nil && *response.ExitCode != 0 {
		e = PostToolUseFailure
	}
	return r.merge(c, r.run(ctx, at, r.chooseForTool(e, c, &response)))
}

// chooseForTool selects the hooks of an event for a call. response is nil if the call has not run yet.
func (r *Runner) chooseForTool(e Event, c Call, response *Response) moment {
	if !r.Has(e) {
		return moment{}
	}
	inner := c.inner()
	m := r.choose(e, func(h Handler) bool { return h.match.selects(inner) && h.applies(r.o.Policy, c.Action) })
	if len(m.chosen) == 0 {
		return m
	}
	m.facts = map[string]any{
		"tool_name": action.FieldName(inner.Tool), "tool_input": inner.input(), "tool_use_id": c.ID,
		"buddy": map[string]any{"tool": inner.Tool, "arguments": json.RawMessage(object(inner.Arguments)), "action": c.Action, "target": c.Action.Target, "verdict": c.Verdict},
	}
	if response != nil {
		m.facts["tool_response"] = response.response(inner)
		if e == PostToolUseFailure {
			m.facts["error"] = response.Text
		}
	}
	return m
}

// object returns arguments as JSON, {} for invalid JSON.
func object(text string) string {
	if json.Valid([]byte(text)) {
		return text
	}
	return "{}"
}

// applies reports whether the rule in a hook's "if" matches an action. If that can't be decided, it returns true:
// an extra run of a guard is harmless.
func (h Handler) applies(p policy.Policy, a action.Action) bool {
	if h.If == "" {
		return true
	}
	p.Rules = h.rules
	if v := p.Judge(a, action.ModeAsk); v.Decision == action.Deny {
		return true
	}
	if !a.Kind.IsCommand() {
		return false
	}
	report := p.Analyse(a.Command, a.Cwd)
	return report.Dynamic || len(report.Commands) == 0
}

// Tell runs the hooks of an event that is not about a call, if their matchers select its kind. facts are added to the
// JSON object that the hooks get on standard input.
func (r *Runner) Tell(ctx context.Context, at Where, e Event, kind string, facts map[string]any) Answer {
	if !r.Has(e) {
		return Answer{}
	}
	m := r.choose(e, func(h Handler) bool { return h.match.matches(kind) })
	m.facts = facts
	return r.merge(Call{}, r.run(ctx, at, m))
}

// moment is one occurrence of an event with the hooks to run.
type moment struct {
	event  Event
	of     *list
	chosen []int          // indexes of handlers, in order
	facts  map[string]any // additional input of the hooks
}

// choose selects the hooks of an event for which wanted returns true. It omits duplicates, and hooks with Once that
// have already run. It counts a run of each selected hook, so the caller must run all of them.
func (r *Runner) choose(e Event, wanted func(Handler) bool) moment {
	m := moment{event: e, of: r.list.Load()}
	for i, h := range m.of.Handlers {
		again := slices.ContainsFunc(m.chosen, func(j int) bool { return h.same(m.of.Handlers[j]) })
		if h.Event == e && !again && wanted(h) && r.begin(m.of, i) {
			m.chosen = append(m.chosen, i)
		}
	}
	return m
}

// run runs the chosen hooks in parallel and returns their answers in the order of the hooks.
func (r *Runner) run(ctx context.Context, at Where, m moment) []answer {
	if len(m.chosen) == 0 {
		return nil
	}
	input, err := r.input(at, m.event, m.facts)
	answers := make([]answer, len(m.chosen))
	var all sync.WaitGroup
	for n, i := range m.chosen {
		h := m.of.Handlers[i]
		if err != nil {
			answers[n] = answer{handler: h, failure: "its input could not be written: " + err.Error()}
			continue
		}
		if h.Async {
			r.launch(at, m.of, i, input)
			answers[n].handler = h
			continue
		}
		all.Go(func() { answers[n] = r.one(ctx, at, m.of, i, input) })
	}
	all.Wait()
	return answers
}

// begin counts a run and reports whether the hook may run. A hook with Once may run only the first time.
func (r *Runner) begin(of *list, i int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if of.Handlers[i].Once && of.ran[i].Times > 0 {
		return false
	}
	of.ran[i].Times++
	return true
}

// input returns the JSON object that hooks get on standard input.
func (r *Runner) input(at Where, e Event, facts map[string]any) ([]byte, error) {
	object := map[string]any{
		"session_id": r.o.Session, "transcript_path": r.o.Transcript, "cwd": r.o.Cwd, "permission_mode": permissionMode(at.Mode),
		"hook_event_name": e, "prompt_id": fmt.Sprint(at.Task),
	}
	if at.Agent != "" {
		object["agent_id"], object["agent_type"] = at.Agent, at.AgentType
	}
	for name, v := range facts {
		object[name] = v
	}
	text, err := json.Marshal(object)
	return append(text, '\n'), err
}

// one runs one hook and publishes its events.
func (r *Runner) one(ctx context.Context, at Where, of *list, i int, input []byte) answer {
	h := of.Handlers[i]
	r.publish(at, event.HookStarted{Event: string(h.Event), Name: h.Name(), Status: r.clean(h.Status)})
	began := time.Now()
	e := r.execute(ctx, of.trusted, h, input)
	a := e.answer()
	outcome := r.clean(a.outcome())
	switch {
	case e.gone:
		outcome = "cancelled"
	case h.Async && a.failure == "":
		outcome += " (async)"
	}
	took := time.Since(began)
	r.mu.Lock()
	of.ran[i].Outcome, of.ran[i].Took = outcome, took
	if a.failure != "" {
		of.ran[i].Failure = r.clean(a.failure)
	}
	r.mu.Unlock()
	ran := event.HookRan{Event: string(h.Event), Name: h.Name(), Source: string(h.Origin.Source), Outcome: texts.Clip(outcome, 500), Exit: e.code, MS: took.Milliseconds()}
	r.publish(at, ran)
	if a.failure != "" && (!h.Event.guards() || h.Ignore) {
		r.publish(at, event.Warning{Text: fmt.Sprintf("the hook %s (%s) failed: %s", h.Name(), h.Event, r.clean(a.failure)), Code: "hook", NextStep: "/hooks"})
	}
	if a.message != "" {
		r.publish(at, event.Notice{Text: fmt.Sprintf("hook %s: %s", h.Name(), r.clean(a.message)), Code: "hook"})
	}
	return a
}

func (r *Runner) publish(at Where, e event.Event) {
	if r.stream != nil {
		r.stream.Publish(at.Task, at.Turn, e)
	}
}

// maxAsync limits the asynchronous hooks that run at a time.
const maxAsync = 4

// launch runs an asynchronous hook. The model gets the hook's text with a later request.
func (r *Runner) launch(at Where, of *list, i int, input []byte) {
	h := of.Handlers[i]
	r.mu.Lock()
	full := r.busy == maxAsync
	switch {
	case r.closed:
	case full:
		of.ran[i].Times-- // begin counted it
	default:
		r.busy++
		r.async.Go(func() { r.unwatched(at, of, i, input) })
	}
	r.mu.Unlock()
	if full {
		r.publish(at, event.Warning{Text: fmt.Sprintf("the hook %s (%s) did not run: %d async hooks are already running", h.Name(), h.Event, maxAsync), Code: "hook", NextStep: "/hooks"})
	}
}

// unwatched runs an asynchronous hook to its end and keeps its text.
func (r *Runner) unwatched(at Where, of *list, i int, input []byte) {
	m := r.merge(Call{}, []answer{r.one(r.ctx, at, of, i, input)})
	r.mu.Lock()
	defer r.mu.Unlock()
	r.busy--
	if text := m.Told(); text != "" {
		r.later = append(r.later, text)
	}
}

// Later returns what asynchronous hooks have printed for the model since it was last called.
func (r *Runner) Later() string {
	if r == nil {
		return ""
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	all := strings.Join(r.later, "\n\n")
	r.later = nil
	return all
}

// Pass ignores failures of a guard for the rest of the session.
func (r *Runner) Pass(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.passed[name] = true
}

// passes reports whether the user ignores failures of a hook.
func (r *Runner) passes(h Handler) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.passed[h.Name()]
}

// Close stops all hooks with their process groups, and prevents further runs. It returns when they have ended: at once
// if none is running, after 6 seconds at the latest.
func (r *Runner) Close() {
	if r == nil {
		return
	}
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.cancel()
	r.async.Wait()
	r.mu.Lock()
	live := slices.Collect(maps.Keys(r.live))
	r.mu.Unlock()
	var ends sync.WaitGroup
	for _, p := range live {
		ends.Go(p.Stop)
	}
	ends.Wait()
}
