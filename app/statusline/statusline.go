// Package statusline runs the status_command of the person's settings, whose output is the end of the status line.
//
// The command runs in the screen's process, not in the session's host: it shows facts that a screen already has, so
// neither the events nor the socket's protocol need to carry them, and nothing runs while no screen is attached.
// (notify_command runs in the host, because it is for sessions without a screen.) The screen and the host are always on
// the same machine.
//
//	r := statusline.New(statusline.Options{Dir: dir, Env: os.Environ(), Show: show})
//	r.Use(statusline.Command{Line: "jq -r .model.display_name", Confined: true})
//	go r.Run(ctx)
//	r.Update(&info, busy) // after each change of the session
package statusline

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"buddy/app/state"
)

const (
	pause = 300 * time.Millisecond // between the starts of two runs
	most  = 2 * time.Second        // for a run
)

// Options describe the session that a Runner is for.
type Options struct {
	Dir        string         // the folder in which buddy was started
	Style      string         // the style of answers
	Transcript string         // the session's file, which need not exist yet; the sandbox hides it
	Env        []string       // of the command; the sandbox removes variables with secrets
	Withheld   []string       // names of variables that a command in the sandbox does not get
	Hidden     []string       // files that the sandbox hides: real, absolute paths
	Busy       func(f func()) // runs f, which may take long
	// Show gets the line to show when it changes, and the error when a command fails for the first time.
	Show func(line string, err error)
}

// Command is the command from the settings.
type Command struct {
	Line     string // for the shell; "" for none
	Confined bool   // it runs in the read-only sandbox
}

// request is the state for which the command has to run.
type request struct {
	facts   Facts
	command Command
	ended   int // number of times that work has ended: it may have changed files that the command reads
}

// Runner runs the command when what it shows has changed. Create it with New. Use and Update are for one goroutine, Run
// for another; Report is safe for concurrent use.
type Runner struct {
	options Options
	began   time.Time
	next    chan request // at most one: the latest
	last    request
	busy    bool
	most    time.Duration // for a run
	run     func(ctx context.Context, c Command, input []byte) (line string, err error)
	sandbox sandbox

	mu     sync.Mutex // guards report
	report report
}

// report describes the last run.
type report struct {
	command Command
	input   []byte
	line    string
	err     error
	took    time.Duration
}

// New returns a runner without a command.
func New(o Options) *Runner {
	r := &Runner{options: o, began: time.Now(), next: make(chan request, 1), most: most}
	r.run = r.execute
	return r
}

// Use sets the command.
func (r *Runner) Use(c Command) {
	q := r.last
	q.command = c
	r.request(q)
}

// Update passes the present state of the session. It returns at once. busy means that the session works.
func (r *Runner) Update(info *state.Info, busy bool) {
	q := r.last
	q.facts = factsOf(info)
	q.facts.Workspace.Project, q.facts.Style.Name = r.options.Dir, r.options.Style
	if r.busy && !busy {
		q.ended++
	}
	r.busy = busy
	r.request(q)
}

// request requests a run, unless nothing has changed. It replaces a request that has not run yet.
func (r *Runner) request(q request) {
	none := q.command.Line == "" && r.last.command.Line == ""
	same := q == r.last
	r.last = q
	if same || none || q.facts.Session == "" {
		return
	}
	select {
	case <-r.next:
	default:
	}
	r.next <- q
}

// Run runs the command for requests until ctx ends. No timer runs while nothing is requested.
func (r *Runner) Run(ctx context.Context) {
	defer r.sandbox.close()
	var shown string
	var failed Command // whose error was shown
	for {
		var q request
		select {
		case <-ctx.Done():
			return
		case q = <-r.next:
		}
		began := time.Now()
		var did report
		r.options.Busy(func() { did = r.answer(ctx, q) })
		if ctx.Err() != nil {
			return
		}
		did.took = time.Since(began)
		r.mu.Lock()
		r.report = did
		r.mu.Unlock()
		err := did.err
		if did.command == failed {
			err = nil
		} else if err != nil {
			failed = did.command
		}
		if err != nil || did.line != shown {
			r.options.Show(did.line, err)
		}
		shown = did.line
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause - did.took):
		}
	}
}

// answer runs the command for a request.
func (r *Runner) answer(ctx context.Context, q request) report {
	q.facts.Cost.Duration = time.Since(r.began).Milliseconds()
	if _, err := os.Stat(r.options.Transcript); err == nil && !q.command.Confined {
		q.facts.Transcript = r.options.Transcript
	}
	did := report{command: q.command}
	if q.command.Line == "" {
		return did
	}
	if did.input, did.err = json.Marshal(q.facts); did.err == nil {
		did.line, did.err = r.run(ctx, q.command, append(did.input, '\n'))
	}
	if did.err != nil {
		did.line = ""
		slog.Debug("status_command failed", "reason", reasonOf(did.err))
	}
	return did
}

// Report describes the command and its last run, for people.
func (r *Runner) Report() string {
	r.mu.Lock()
	did := r.report
	r.mu.Unlock()
	if did.command.Line == "" {
		return "No status_command is set. In your settings, it is a command whose first line of output is shown at the end of the status line:\n\n" +
			"    [ui]\n    status_command = \"jq -r .model.display_name\"\n"
	}
	where := "in the read-only sandbox"
	if !did.command.Confined {
		where = "without a sandbox"
	}
	text := fmt.Sprintf("Command (%s)\n\n    %s\n\nLast run (%v)\n\n", where, did.command.Line, did.took.Round(time.Millisecond))
	if did.err != nil {
		text += "    failed: " + did.err.Error()
	} else {
		text += "    " + did.line
	}
	var input []byte
	var facts Facts
	if json.Unmarshal(did.input, &facts) == nil { // data only
		input, _ = json.MarshalIndent(facts, "    ", "  ")
	}
	return text + "\n\nStandard input\n\n    " + string(input) + "\n"
}
