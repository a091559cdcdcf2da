// Package dashboard computes the rows of the dashboard, the list of running sessions. A [Fold] computes a session's
// row from the session's greeting and events; [Read] parses a row that buddy on another machine has printed. The
// package does no I/O.
//
//	f := dashboard.Begin(id, hello)
//	f.Apply(env)
//	row := f.Session()
//	fmt.Println(row.Group, row.Does())
package dashboard

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/app/client"
	"buddy/texts"
	"buddy/views/words"
)

// Limits of a row. Waits, tasks and text that exceed them are left out.
const (
	maxWaits = 32      // approvals and questions
	maxText  = 1 << 10 // bytes of a title, a folder or a question
	maxTasks = 1000    // running tasks
	maxLong  = 2 << 10 // bytes of a prompt or of an answer
	// MaxLine limits a row that another machine sends, in bytes.
	MaxLine = 256 << 10
)

// Group is a group of sessions in the list.
type Group string

// The groups, in the order of the list.
const (
	Waiting Group = "waiting for you"
	Failed  Group = "failed"
	Working Group = "working"
	Idle    Group = "idle"
)

var groups = []Group{Waiting, Failed, Working, Idle}

// Session is the row of a live session. Its texts are untrusted.
type Session struct {
	ID      string       `json:"id"`
	Machine string       `json:"machine,omitempty"` // the ssh destination; "" is this machine
	Group   Group        `json:"group"`
	State   client.State `json:"state"`
	Title   string       `json:"title"` // "" before its first prompt
	Folder  string       `json:"folder"`
	Target  string       `json:"target"`
	Began   int64        `json:"began_unix_ms"` // 0 before its first prompt
	Cost    model.Money  `json:"cost"`
	client.Latest
	Waits   []Wait `json:"waits,omitempty"`   // oldest first
	Problem string `json:"problem,omitempty"` // why the session does not report its state
	Gone    bool   `json:"gone,omitempty"`    // it is no longer live; the other fields are its last ones

	Here    string          `json:"-"` // as in client.Description
	Options json.RawMessage `json:"-"`
}

// Kind is the kind of request that waits for the user.
type Kind string

// The kinds of requests.
const (
	Approval Kind = "approval"
	Question Kind = "question"
	Plan     Kind = "plan"
)

// Wait is an approval, a question or a plan that waits for the user's answer.
type Wait struct {
	ID    string `json:"id"`
	Kind  Kind   `json:"kind"`
	Text  string `json:"text"`
	Agent string `json:"agent,omitempty"` // the subagent that asks
	Since int64  `json:"since_unix_ms"`
}

// Key identifies the session among the sessions of all machines.
func (s Session) Key() string { return s.Machine + "/" + s.ID }

// Does describes in a few words what the session does or waits for.
func (s Session) Does() string {
	switch {
	case s.Problem != "":
		return s.Problem
	case len(s.Waits) > 0 && s.Waits[0].Kind == Plan:
		return "approve the plan"
	case len(s.Waits) > 0 && s.Waits[0].Kind == Question:
		return "? " + texts.OneLine(s.Waits[0].Text)
	case len(s.Waits) > 0:
		return "approve " + texts.OneLine(s.Waits[0].Text)
	case s.State == client.Failed:
		return texts.OneLine(cmp.Or(s.Failure, "failed"))
	case s.State == client.Background:
		return "command in background"
	}
	return string(s.State)
}

func groupOf(s Session) Group {
	switch {
	case s.Problem != "":
		return Failed
	case s.State == client.WaitsForApproval, s.State == client.WaitsForAnswer:
		return Waiting
	case s.State == client.Failed:
		return Failed
	case s.State == client.Working:
		return Working
	}
	return Idle
}

// Sort orders sessions by group. In the group Waiting, those that have waited longest come first; in the other groups,
// those that changed last.
func Sort(all []Session) {
	slices.SortFunc(all, func(a, b Session) int {
		byTime := cmp.Compare(b.Since, a.Since)
		if a.Group == Waiting {
			byTime = -byTime
		}
		return cmp.Or(cmp.Compare(slices.Index(groups, a.Group), slices.Index(groups, b.Group)), byTime, cmp.Compare(a.Key(), b.Key()))
	})
}

// Count returns how many sessions are in a group.
func Count(all []Session, g Group) (n int) {
	for _, s := range all {
		if s.Group == g {
			n++
		}
	}
	return n
}

// Fold computes a session's row from its events. [Begin] makes a Fold.
type Fold struct {
	s     Session
	tasks map[int]event.TaskKind // running ones
	main  int                    // the newest task of the main conversation
	fails bool                   // whether the task main failed
}

// Begin returns a Fold that starts from the greeting of a session's host.
func Begin(id string, hello client.Hello) *Fold {
	f := &Fold{s: Session{ID: id, Folder: hello.Cwd, Target: hello.Target}, tasks: make(map[int]event.TaskKind)}
	if d := hello.About; d != nil {
		f.s.Title, f.s.Folder, f.s.Target, f.s.Began, f.s.Cost, f.s.Latest = clip(d.Title), clip(d.Folder), d.Target, d.Began, d.Cost, d.Latest
		f.s.Here, f.s.Options = d.Here, d.Options
		f.fails = d.State == client.Failed
	}
	latest := f.s.Latest
	for _, env := range hello.Open {
		if p, queued := env.Payload.(event.PromptSubmitted); !queued || !p.Queued {
			f.Apply(env)
		}
	}
	if hello.About != nil {
		f.s.Latest = latest // it is newer than the events in Open
	}
	return f
}

// Apply folds the next event. Its cost and memory do not depend on the length of the session.
func (f *Fold) Apply(env event.Envelope) {
	f.s.Apply(env)
	switch p := env.Payload.(type) {
	case event.PromptSubmitted:
		if f.s.Began == 0 {
			f.s.Began, f.s.Title = env.Time, cmp.Or(f.s.Title, clip(texts.OneLine(p.Text)))
		}
	case event.SessionRenamed:
		f.s.Title = clip(p.Title)
	case event.MetricsUsage:
		f.s.Cost = p.SessionCost
	case event.SessionResumed:
		clear(f.tasks)
		f.s.Waits = nil
	case event.TaskStarted, event.TaskFinished:
		f.task(p)
	case event.ApprovalAsked, event.QuestionAsked, event.ApprovalAnswered, event.QuestionAnswered:
		f.ask(p, env.Time)
	}
}

// task folds the start or the end of a task.
func (f *Fold) task(e event.Event) {
	switch p := e.(type) {
	case event.TaskStarted:
		if p.Kind == event.MainTask {
			f.main, f.fails = p.ID, false
		}
		if len(f.tasks) < maxTasks {
			f.tasks[p.ID] = p.Kind
		}
	case event.TaskFinished:
		delete(f.tasks, p.ID)
		if p.ID == f.main {
			f.fails = p.Outcome == event.Failed
		}
	}
}

// ask folds a request or its answer, at a time in Unix milliseconds.
func (f *Fold) ask(e event.Event, at int64) {
	switch p := e.(type) {
	case event.ApprovalAsked:
		f.wait(Wait{ID: p.ID, Kind: Approval, Text: clip(cmp.Or(p.Action.Command, words.Asked(p).Line())), Agent: clip(p.Agent), Since: at})
	case event.QuestionAsked:
		w := Wait{ID: p.ID, Kind: Question, Text: clip(p.Text), Agent: clip(p.From), Since: at}
		if p.Plan != "" {
			w.Kind = Plan
		}
		f.wait(w)
	case event.ApprovalAnswered:
		f.answered(p.ID)
	case event.QuestionAnswered:
		f.answered(p.ID)
	}
}

func (f *Fold) wait(w Wait) {
	if len(f.s.Waits) < maxWaits {
		f.s.Waits = append(slices.Clip(f.s.Waits), w) // a copy, because rows that were returned share the slice
	}
}

func (f *Fold) answered(id string) {
	f.s.Waits = slices.DeleteFunc(slices.Clone(f.s.Waits), func(w Wait) bool { return w.ID == id })
}

// Session returns the row.
func (f *Fold) Session() Session {
	s := f.s
	s.State = client.Idle
	switch {
	case len(f.tasks) > 0:
		s.State = client.Background
	case f.fails:
		s.State = client.Failed
	}
	for _, kind := range f.tasks {
		if kind.HasConversation() {
			s.State = client.Working
		}
	}
	for _, w := range s.Waits {
		if s.State = client.WaitsForAnswer; w.Kind == Approval {
			s.State = client.WaitsForApproval
			break
		}
	}
	s.Group = groupOf(s)
	return s
}

// clip limits a text, and copies it so that the event can be freed.
func clip(text string) string { return strings.Clone(texts.ClipBytes(text, maxText)) }

// Read returns the row in a line of buddy dashboard --watch on another machine. Nothing in it is trusted: texts are
// clipped, and the group is computed here.
func Read(machine string, line []byte) (Session, error) {
	var s Session
	if len(line) > MaxLine {
		return s, fmt.Errorf("a line has more than %d bytes", MaxLine)
	}
	if err := json.Unmarshal(line, &s); err != nil {
		return s, errors.New("a line is not a session")
	}
	if !validID(s.ID) {
		return s, fmt.Errorf("bad session id %q", texts.ClipBytes(s.ID, 40))
	}
	s.Machine = machine
	for _, text := range []*string{&s.Title, &s.Folder, &s.Target, &s.Problem} {
		*text = clip(*text)
	}
	for _, text := range []*string{&s.Prompt, &s.Said, &s.Failure} {
		*text = texts.ClipBytes(*text, maxLong)
	}
	s.Waits = s.Waits[:min(len(s.Waits), maxWaits)]
	for i := range s.Waits {
		w := &s.Waits[i]
		w.Text, w.Agent = clip(w.Text), clip(w.Agent)
	}
	if !slices.Contains([]client.State{client.Working, client.Background, client.WaitsForApproval, client.WaitsForAnswer, client.Failed}, s.State) {
		s.State = client.Idle
	}
	s.Group = groupOf(s)
	return s, nil
}

// validID reports whether a text has the form of a session's id, which is passed to commands.
func validID(id string) bool {
	return id != "" && len(id) <= 64 && id[0] != '-' && strings.Trim(id, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_") == ""
}

// Asked holds an approval or a question of a session, for a dialog. The dialog calls Close.
type Asked struct {
	Request event.Event // an event.ApprovalAsked or an event.QuestionAsked
	Args    string      // the arguments of the call
	Of      int         // how many requests of the session wait
	Place   string      // the session's name for this screen in answers
	Send    func(event.Command)
	// Answered receives the answer, whoever gives it, and is closed when the session ends.
	Answered <-chan event.Event
	Close    func()
}
