package shell

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"buddy/texts"
	"buddy/tmux"
	"buddy/tools"
)

// jobs holds the commands that keep running after their call.
type jobs struct {
	mu   sync.Mutex // guards the fields below
	last int
	all  []*shellJob // in the order of their start
}

// maxJobs limits the remembered commands; the oldest ended ones are forgotten first.
const maxJobs = 64

// shellJob is a command that keeps running after its call.
type shellJob struct {
	shell *Shell // that started it
	id    int
	pane  string // its name
	title string
	dir   string
	run   *tmux.Running
	// shared means that the command runs in the shared pane.
	shared bool
	out    *outputTail
	since  time.Time
}

// begin registers a command and assigns its number.
func (j *jobs) begin(call tools.Call, s *shellJob) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if call.Begin != nil {
		s.id = call.Begin(s.task())
	} else {
		s.id = j.last + 1
	}
	j.add(s)
}

// add stores a command. The caller holds mu.
func (j *jobs) add(s *shellJob) {
	j.last = max(j.last, s.id)
	if len(j.all) >= maxJobs {
		if i := slices.IndexFunc(j.all, (*shellJob).over); i >= 0 {
			j.all = slices.Delete(j.all, i, i+1)
		}
	}
	j.all = append(j.all, s)
}

// find returns the command with a number or, if pane is set, the newest command in that pane.
func (j *jobs) find(id int, pane string) (*shellJob, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	var known []string
	for _, s := range slices.Backward(j.all) {
		if id != 0 && s.id == id || id == 0 && s.pane == pane {
			return s, nil
		}
		known = append(known, fmt.Sprintf("%d in pane %s", s.id, s.pane))
	}
	what := fmt.Sprintf("id %d", id)
	if id == 0 {
		what = fmt.Sprintf("pane %q", texts.ClipBytes(pane, 40))
	}
	return nil, tools.Invalid("%s: no command was left running there (have: %s)", what, cmp.Or(strings.Join(known, ", "), "none"))
}

func (s *shellJob) task() tools.Task {
	return tools.Task{Title: s.title, Pane: s.pane, Dir: s.dir, Done: s.run.Done(), End: s.end, Stop: s.run.Cancel}
}

// Revive follows a command that an earlier process left running. The command keeps its number id; the Title, Pane and
// Dir of was describe it. An error means that the outcome is unknown.
func (t *Shell) Revive(ctx context.Context, id int, was tools.Task) (tools.Task, error) {
	out := newOutputTail(nil, t.limits.Output)
	run, err := t.panes.Reattach(ctx, usedDir(was.Dir), out.write)
	if err != nil {
		return tools.Task{}, err
	}
	s := &shellJob{shell: t, id: id, title: was.Title, dir: was.Dir, run: run, shared: t.runsShared(run), pane: t.ref(run.Pane()).String(), out: out, since: time.Now()}
	if s.shared && !s.over() {
		t.left.Store(run)
	}
	t.jobs.mu.Lock()
	defer t.jobs.mu.Unlock()
	t.jobs.add(s)
	return s.task(), nil
}

// over reports whether the command has ended.
func (s *shellJob) over() bool {
	select {
	case <-s.run.Done():
		return true
	default:
		return false
	}
}

func (s *shellJob) end() tools.TaskEnd {
	res, err := s.run.Wait(context.Background())
	out, errs := s.out.text(s.shell.limits.Output)
	return tools.TaskEnd{ExitCode: res.ExitCode, Cancelled: res.Cancelled, Err: err, Tail: out + errs}
}

// result returns the state of the command, with at most limit bytes of its output.
func (s *shellJob) result(note string, limit int) tools.Result {
	if s.over() {
		res, err := s.run.Wait(context.Background())
		return finished(res, err, limit)
	}
	out, errs := s.out.text(limit)
	r := tools.Streams(out, errs, note)
	r.Outcome = fmt.Sprintf("in background (#%d)", s.id)
	return r
}

// outputTail keeps the end of a command's output as a terminal shows it, and passes all output on while the call runs.
type outputTail struct {
	waits chan struct{} // closed when the command waits for keys for the first time

	mu      sync.Mutex // guards what follows
	pass    tmux.Output
	streams map[tools.Stream]*printed
	asked   bool
}

func newOutputTail(pass tmux.Output, keep int) *outputTail {
	return &outputTail{pass: pass, waits: make(chan struct{}), streams: map[tools.Stream]*printed{tools.Stdout: newPrinted(0, keep), tools.Stderr: newPrinted(0, keep)}}
}

func (r *outputTail) write(stream string, p []byte, total int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pass != nil {
		r.pass(stream, p, total)
	}
	if tools.Stream(stream) == tools.Keys && !r.asked && len(p) > 0 && p[len(p)-1] == 1 {
		r.asked = true
		close(r.waits)
	}
	if s := r.streams[tools.Stream(stream)]; s != nil {
		s.write(p)
	}
}

// detach stops passing output on, at the end of the call.
func (r *outputTail) detach() {
	r.mu.Lock()
	r.pass = nil
	r.mu.Unlock()
}

// text returns the end of both output streams, at most limit bytes together, with a note on how much was cut.
func (r *outputTail) text(limit int) (out, errs string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	stdout, stderr := r.streams[tools.Stdout].now(), r.streams[tools.Stderr].now()
	forOut, forErrs := shares(limit, stdout.total, stderr.total)
	end := func(s *printed, limit int) string { return cutStart(s.end(), limit, s.total-int64(len(s.tail))) }
	return end(stdout, forOut), end(stderr, forErrs)
}

// cutStart returns the last limit bytes of s. If bytes are missing, a note before them says how many; before counts
// those that were missing already.
func cutStart(s string, limit int, before int64) string {
	text := lastBytes([]byte(s), limit)
	if before += int64(len(s) - len(text)); before <= 0 {
		return s
	}
	return fmt.Sprintf("[truncated %d chars from start]\n%s", before, text)
}
