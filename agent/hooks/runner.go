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
	Handlers   []Handler // those that may run, in their order
	Problems   []Problem // what was left out, for the list
	Policy     policy.Policy
	Session    string
	Transcript string   // the session's file
	Cwd        string   // where hooks run
	Project    string   // the project's folder
	State      string   // where processes are noted, see [child.Spec]
	OutDir     string   // where long texts are kept; "" cuts them
	Env        []string // NAME=value, added to the minimal environment of every hook
	// Trusted returns a hook as it is to run now, with copies of the files that were checked, or why it must not run: it
	// changed since the person trusted it. It is asked each time for the hooks of a project. nil: all are trusted.
	Trusted func(Handler) (Handler, error)
	Redact  *redact.Redactor
	// Hold returns what holds a hook that runs now, nil while nothing does, as in all modes but auto. It is asked
	// about all that do not run outside anyway. nil: nothing ever holds one.
	Hold func(Handler) (child.Holder, error)
}

// Runner runs hooks. It is safe for concurrent use; a nil Runner has none.
type Runner struct {
	o      Options
	stream *stream.Stream
	ctx    context.Context // of what nothing waits for
	cancel context.CancelFunc
	async  sync.WaitGroup
	start  beginning
	list   atomic.Pointer[list]

	mu     sync.Mutex // guards all below, and how the hooks of the list ran
	passed map[string]bool
	later  []string // for the model, of asynchronous hooks
	busy   int      // asynchronous hooks that run
	texts  int      // files of long texts
	live   map[*child.Process]struct{}
	closed bool
	leaves string // why the session ends; "" is not known
}

// list are the hooks that may run now. Those of a moment are of one list.
type list struct {
	Set
	trusted func(Handler) (Handler, error) // see Options
	ran     []Run                          // of each handler, the last; Runner.mu guards it
}

// Run tells how often a hook ran, and how it went the last time.
type Run struct {
	Times   int
	Outcome string
	Failure string // the last one
	Took    time.Duration
}

// Where says at which point of a session a hook runs.
type Where struct {
	Task, Turn int
	Mode       action.Mode
	Agent      string // id of the subagent; "" is the main agent
	AgentType  string
}

// New returns a runner.
func New(o Options) *Runner {
	r := &Runner{o: o, passed: make(map[string]bool), live: make(map[*child.Process]struct{})}
	r.list.Store(&list{Set{o.Handlers, o.Problems}, o.Trusted, make([]Run, len(o.Handlers))})
	r.ctx, r.cancel = context.WithCancel(context.Background())
	if o.State != "" && len(o.Handlers) > 0 {
		r.async.Go(func() { _, _ = child.Sweep(o.State) }) // of a process that was killed
	}
	return r
}

// Replace makes other hooks those that may run, from the next moment on, with what says whether they
// are trusted; what runs goes on. What is known of those that stay is kept.
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

// Bind names the stream that is told of what runs. Call it before any hook runs.
func (r *Runner) Bind(s *stream.Stream) {
	if r != nil {
		r.stream = s
	}
}

// Has reports whether any hook is for an event. It allocates nothing.
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

// Wants reports whether a hook is for a kind of an event that is about no call. It allocates nothing.
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

// Guards reports whether a hook decides before a call of a tool. It allocates nothing where no
// hook does so for any tool.
func (r *Runner) Guards(c Call) bool {
	if !r.Has(PreToolUse) {
		return false
	}
	tool := c.inner().Tool
	return slices.ContainsFunc(r.list.Load().Handlers, func(h Handler) bool { return h.Event == PreToolUse && h.match.matchesTool(tool) })
}

// BeforeTools asks the hooks whether calls may run, about all of them at the same time, and returns
// what they said of each. Which hooks run is decided in the order of the calls.
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

// Permission asks the hooks in place of a person, before the person is asked.
func (r *Runner) Permission(ctx context.Context, at Where, c Call) Answer {
	return r.merge(c, r.run(ctx, at, r.chooseForTool(PermissionRequest, c, nil)))
}

// AfterTool tells the hooks what a tool gave.
func (r *Runner) AfterTool(ctx context.Context, at Where, c Call, got Response) Answer {
	e := PostToolUse
	if got.Failed || got.ExitCode != nil && *got.ExitCode != 0 {
		e = PostToolUseFailure
	}
	return r.merge(c, r.run(ctx, at, r.chooseForTool(e, c, &got)))
}

// chooseForTool chooses the hooks of an event that are for a call; got is what the tool gave, nil
// before that.
func (r *Runner) chooseForTool(e Event, c Call, got *Response) moment {
	if !r.Has(e) {
		return moment{}
	}
	inner := c.inner()
	m := r.choose(e, func(h Handler) bool { return h.match.matchesTool(inner.Tool) && h.applies(r.o.Policy, c.Action) })
	if len(m.chosen) == 0 {
		return m
	}
	m.facts = map[string]any{
		"tool_name": action.FieldName(inner.Tool), "tool_input": inner.input(), "tool_use_id": c.ID,
		"buddy": map[string]any{"tool": inner.Tool, "arguments": json.RawMessage(object(inner.Arguments)), "action": c.Action, "target": c.Action.Target, "verdict": c.Verdict},
	}
	if got != nil {
		m.facts["tool_response"] = got.response(inner)
		if e == PostToolUseFailure {
			m.facts["error"] = got.Text
		}
	}
	return m
}

// object returns arguments in JSON, an empty object for a text that is no JSON.
func object(text string) string {
	if json.Valid([]byte(text)) {
		return text
	}
	return "{}"
}

// applies reports whether the rule of a hook's "if" matches an action. Where that is not known, it
// does: a guard that runs too often harms nobody.
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

// Tell runs the hooks of an event that is about no call. kind is what their matchers select; facts
// is what the object on their standard input has beside what it always has.
func (r *Runner) Tell(ctx context.Context, at Where, e Event, kind string, facts map[string]any) Answer {
	if !r.Has(e) {
		return Answer{}
	}
	m := r.choose(e, func(h Handler) bool { return h.match.matches(kind) })
	m.facts = facts
	return r.merge(Call{}, r.run(ctx, at, m))
}

// moment is an event for which hooks run.
type moment struct {
	event  Event
	of     *list
	chosen []int          // which handlers, in their order
	facts  map[string]any // what they read beside what they always do
}

// choose returns the hooks of an event that are wanted and may run. Each that is chosen has to run.
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

// run runs the hooks that were chosen, all at the same time, and returns what they said in the order
// of the hooks.
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

// begin reports whether a hook may run, which one for once in a session may only the first time.
func (r *Runner) begin(of *list, i int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if of.Handlers[i].Once && of.ran[i].Times > 0 {
		return false
	}
	of.ran[i].Times++
	return true
}

// input returns the object that hooks read.
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

// one runs one hook and reports it.
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

// maxAsync limits the hooks that run while nothing waits for them.
const maxAsync = 4

// launch runs a hook that nothing waits for. What it says is told with a later request.
func (r *Runner) launch(at Where, of *list, i int, input []byte) {
	h := of.Handlers[i]
	r.mu.Lock()
	full := r.busy == maxAsync
	switch {
	case r.closed:
	case full:
		of.ran[i].Times-- // as begin counted it
	default:
		r.busy++
		r.async.Go(func() { r.unwatched(at, of, i, input) })
	}
	r.mu.Unlock()
	if full {
		r.publish(at, event.Warning{Text: fmt.Sprintf("the hook %s (%s) did not run: %d async hooks are already running", h.Name(), h.Event, maxAsync), Code: "hook", NextStep: "/hooks"})
	}
}

// unwatched runs such a hook.
func (r *Runner) unwatched(at Where, of *list, i int, input []byte) {
	m := r.merge(Call{}, []answer{r.one(r.ctx, at, of, i, input)})
	r.mu.Lock()
	defer r.mu.Unlock()
	r.busy--
	if text := m.Told(); text != "" {
		r.later = append(r.later, text)
	}
}

// Later returns what asynchronous hooks have said since the last call, for the model.
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

// Pass lets failures of a guard pass for the rest of the session.
func (r *Runner) Pass(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.passed[name] = true
}

// passes reports whether a person lets the failures of a hook pass.
func (r *Runner) passes(h Handler) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.passed[h.Name()]
}

// Close ends what runs, with all that hooks have left in their groups, and returns when that is
// gone: at once when nothing runs, after 6 seconds at the latest. Nothing runs after it.
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
