package tmux

import (
	"bytes"
	"context"
	"crypto/rand"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"buddy/tmux/host"
	"buddy/tmux/pane"
	"buddy/tmux/pane/confine"
)

// The scripts are the supervisor of a target, where this program is not installed.
var (
	//go:embed remote/setup.sh
	setupSh string
	//go:embed remote/sup.sh
	supSh string
	//go:embed remote/lib.sh
	libSh string
)

// Exit codes of the scripts.
const (
	codeNotYet  = 70
	codeGone    = 71
	codeClosed  = 73
	codeNoShell = 74
)

// errNoShell means that the requested shell is missing.
var errNoShell = errors.New("the shell is missing")

// remote is the supervisor on a target, where nothing of ours is installed: a shell script.
type remote struct {
	opt   Options
	bare  bool   // it has no terminal
	name  string // of its directory
	host  *host.Host
	found func()        // called when the connection is back after a cut
	slot  chan struct{} // holds a token while a command runs

	mu           sync.Mutex         // guards the fields below
	dir          string             // on the target; "" until it is created, and when it may be gone
	made         string             // the last directory
	shell        string             // program that runs commands there
	version      string             // output of `tmux -V` there
	unlink       context.CancelFunc // ends the connection to the supervisor; nil when there is none
	last         int                // number of the newest command
	late         []*mirror          // ended commands whose output a background job may still hold
	fetch        context.CancelFunc // ends fetching late output; nil when none is fetched
	fetched      chan struct{}
	dropped      bool
	used         bool     // a supervisor may exist
	pendingStops []string // scripts that stop cancelled commands that could not be reached
}

func newRemote(o Options, name string) *remote {
	return &remote{opt: o, name: name, host: o.Host, slot: make(chan struct{}, 1)}
}

// lib returns a script that calls a function of lib.sh.
func (r *remote) lib(call ...string) string { return libOf(r.directory(), call...) }

func (r *remote) directory() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.dir
}

func libOf(dir string, call ...string) string {
	return "D=" + host.Quote(dir) + `; [ -f "$D/lib" ] || exit ` + strconv.Itoa(codeGone) + `; . "$D/lib"; ` + host.Line(call...)
}

// ask runs a script and returns the lines that it prints.
func (r *remote) ask(ctx context.Context, script string) ([]string, error) {
	ctx, stop := context.WithTimeout(ctx, askLimit)
	defer stop()
	var out, errs bytes.Buffer
	code, err := r.host.Run(ctx, script, &out, &errs)
	switch {
	case err != nil:
		return nil, err
	case code == codeGone:
		return nil, errGone
	case code == codeNoShell:
		return nil, errNoShell
	case code != 0:
		return nil, errors.New(reason(errs.String(), fmt.Errorf("exit code %d", code)))
	}
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n"), nil
}

// inherit copies the state of a shell on the same target.
func (r *remote) inherit(ctx context.Context, from string) error {
	_, err := r.ask(ctx, "F="+host.Quote(from)+" D="+host.Quote(r.directory())+`; s=state.0; [ ! -s "$F/at" ] || read -r s <"$F/at"; umask 077
[ ! -s "$F/kind" ] || cp "$F/kind" "$D/kind"; cp "$F/$s" "$D/new" && mv -f "$D/new" "$D/state.0"`)
	return err
}

func (r *remote) prepare(ctx context.Context) error {
	r.mu.Lock()
	made := r.dir != ""
	r.mu.Unlock()
	if made {
		return nil
	}
	files := map[string]string{"sup": supSh, "lib": libSh, "tmux.conf": config}
	for _, kind := range []string{"bash", "zsh", "sh"} {
		run, main := pane.Scripts(kind)
		files["run."+kind], files["main."+kind] = string(run), pidLine+main
	}
	var text strings.Builder
	for name, content := range files {
		fmt.Fprintf(&text, "%s) printf %%s %s ;;\n", name, host.Quote(content))
	}
	start := `cd "$HOME" || __buddy_gone=$HOME`
	if r.opt.Cwd != "" {
		at := host.Quote(r.opt.Cwd)
		start = "cd " + at + " 2>/dev/null || __buddy_gone=" + at
	}
	alone := ""
	if r.opt.Unattended > 0 {
		alone = pane.Exports(confine.Unattended)
	}
	lines, err := r.ask(ctx, "text() { case $1 in\n"+text.String()+"esac; }\n"+setupSh+host.Line("setup", r.name, start, r.opt.Shell, pane.KindOf(r.opt.Shell), alone))
	var down *host.DownError
	switch {
	case errors.As(err, &down), ctx.Err() != nil:
		return err
	case errors.Is(err, errNoShell):
		return pane.NoShell(r.opt.Shell, r.host.Name())
	case err != nil:
		return fmt.Errorf("%s: %w", r.host.Name(), err) // it would also fail without a pane
	case len(lines) != 3:
		return fmt.Errorf("%w: %s: the set-up printed %q", ErrUnavailable, r.host.Name(), lines)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dir, r.made, r.shell, r.version, r.used = lines[0], lines[0], lines[1], lines[2], true
	return nil
}

// pidLine stores the process group of a command, for stopping the command. In a pane it is the group of the shell's
// parent, see sup.sh.
const pidLine = `case $TERM in dumb) echo $$ ;; *) echo $PPID ;; esac >"${2%/*}/pid"; `

func (r *remote) check(context.Context) error {
	r.mu.Lock()
	version := r.version
	r.mu.Unlock()
	err := gate(version)
	if version == "none" {
		err = fmt.Errorf("%w: tmux is not installed", ErrUnavailable)
	}
	if err != nil {
		return fmt.Errorf("%w on %s", err, r.host.Name())
	}
	return nil
}

func (r *remote) conf() string { return r.directory() + "/tmux.conf" }

func (r *remote) argv() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return []string{"sh", r.dir + "/sup", r.dir, r.shell}
}

func (r *remote) attachLine() string { return r.host.Attach(attachArgs(r.opt)...) }

func (r *remote) tmuxArgs(args []string) []string {
	return append(append(append([]string{"tmux"}, socketArgs(r.opt)...), "-u"), args...)
}

func (r *remote) tmux(ctx context.Context, args ...string) (string, error) {
	ctx, stop := context.WithTimeout(ctx, askLimit)
	defer stop()
	var out bytes.Buffer
	code, err := r.host.Run(ctx, "unset TMUX TMUX_PANE; "+host.Line(r.tmuxArgs(args)...)+" 2>&1", &out, io.Discard)
	if err == nil && code != 0 {
		err = fmt.Errorf("exit code %d", code)
	}
	return out.String(), err
}

func (r *remote) control(args ...string) (*exec.Cmd, error) {
	ctx, stop := context.WithTimeout(context.Background(), askLimit)
	defer stop()
	if err := r.host.Connect(ctx); err != nil {
		return nil, err
	}
	return r.host.Command(context.Background(), r.tmuxArgs(args)...)
}

func (r *remote) linked() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.unlink != nil
}

func (r *remote) greet(ctx context.Context, lost func(string)) (pane.Info, bool, error) {
	if r.linked() {
		return pane.Info{}, false, nil
	}
	info, last, err := r.info(ctx)
	if err != nil {
		return info, false, err
	}
	held, stop := context.WithCancel(context.Background())
	r.mu.Lock()
	r.unlink, r.last = stop, max(r.last, last)
	r.mu.Unlock()
	waits := make(waiter, 1)
	go r.hold(held, waits, lost)
	select {
	case <-waits: // or it has ended already: then lost is called
	case <-ctx.Done():
		r.release()
		return info, false, ctx.Err()
	}
	r.stopPending(ctx)
	return info, true, nil
}

// info returns the supervisor's Info and the number of its newest command.
func (r *remote) info(ctx context.Context) (info pane.Info, last int, err error) {
	lines, err := r.ask(ctx, r.lib("greet"))
	if err != nil {
		return info, 0, err
	}
	return parseInfo(lines[0])
}

// parseInfo parses the output of greet in lib.sh.
func parseInfo(line string) (info pane.Info, last int, err error) {
	busy := 0
	if _, err := fmt.Sscan(line, &info.Pid, &info.Pane, &last, &busy); err != nil {
		return info, 0, fmt.Errorf("%w: unexpected answer %q", errGone, line)
	}
	if info.Busy = busy != 0; info.Pane == "-" {
		info.Pane = "" // it has no terminal
	}
	return info, last, nil
}

// hold waits for the end of the supervisor or of the connection, then calls lost.
func (r *remote) hold(ctx context.Context, waits waiter, lost func(string)) {
	_, err := r.host.Run(ctx, r.lib("hold", rand.Text()), waits, io.Discard)
	_, _ = waits.Write(nil)
	if ctx.Err() != nil {
		return
	}
	r.forget()
	if err != nil {
		lost(err.Error())
		return
	}
	lost("its supervisor ended")
}

// stopWhenReachable records that a command must be stopped once the target can be reached again: it was cancelled, or
// given up before its start was confirmed.
func (r *remote) stopWhenReachable(m *mirror) {
	m.mu.Lock()
	var scripts []string
	if !m.taken && (m.sent || m.cancelled) {
		scripts = append(scripts, m.withdrawScript())
	}
	if len(scripts) > 0 || m.taken && m.cancelled {
		scripts = append(scripts, m.stopScript("TERM", "TERM", 2))
	}
	m.mu.Unlock()
	r.mu.Lock()
	r.pendingStops = append(r.pendingStops, scripts...)
	r.mu.Unlock()
}

// stopPending stops the commands that stopWhenReachable recorded.
func (r *remote) stopPending(ctx context.Context) {
	r.mu.Lock()
	doomed := r.pendingStops
	r.pendingStops = nil
	r.mu.Unlock()
	for _, script := range doomed {
		_, _ = r.ask(ctx, script) // the command has ended before, or ends now
	}
}

// waiter signals the first write to it.
type waiter chan struct{}

func (w waiter) Write(p []byte) (int, error) {
	select {
	case w <- struct{}{}:
	default:
	}
	return len(p), nil
}

// forget notes that the supervisor, or the connection to it, is gone.
func (r *remote) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.unlink != nil {
		r.unlink()
	}
	r.unlink, r.dir = nil, "" // the directory may be gone, too
}

func (r *remote) run(ctx context.Context, dir string, mode Mode, within pane.Sandboxed) (job, error) {
	err := mode.Check(!r.bare)
	switch within {
	case pane.ReadOnly:
		err = Confines(r.opt)
	case pane.Fenced:
		err = Fences(r.opt)
	}
	if err != nil {
		return nil, &pane.RefusedError{Reason: err.Error()}
	}
	select {
	case r.slot <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	r.mu.Lock()
	r.last++
	id, at := r.last, r.dir
	r.mu.Unlock()
	if at == "" { // the connection was cut during the wait for the slot
		<-r.slot
		return nil, errGone
	}
	m, err := newMirror(r, dir, ticket{ID: id, Token: rand.Text(), Dir: at, Began: time.Now(), Mode: mode})
	var submit string
	if err == nil {
		submit, err = m.submission()
	}
	if err != nil {
		<-r.slot
		return nil, err
	}
	if err := m.start(ctx, submit); err != nil {
		return nil, err
	}
	return m, nil
}

func (r *remote) attach(ctx context.Context, dir string) (job, error) {
	t, err := readTicket(dir)
	if err != nil {
		return nil, err
	}
	if at := r.directory(); t.Dir != at {
		return nil, fmt.Errorf("the command was started in %q, not in %q", t.Dir, at)
	}
	m, err := newMirror(r, dir, t)
	if err != nil {
		return nil, err
	}
	select {
	case r.slot <- struct{}{}:
	default:
		m.slotless = true
	}
	if err := m.start(ctx, ""); err != nil {
		return nil, err
	}
	return m, nil
}

func (r *remote) begun() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.used
}

func (r *remote) busy(ctx context.Context) (bool, string, error) {
	if err := r.prepare(ctx); err != nil { // the connection may be lost
		return false, "", err
	}
	info, _, err := r.info(ctx)
	return info.Busy, info.Pane, err
}

func (r *remote) leave(ctx context.Context) error {
	r.mu.Lock()
	dir := r.made // r.dir is "" if the connection has just been cut
	r.mu.Unlock()
	_, err := r.ask(ctx, ": >"+host.Quote(dir+"/"+leftMark))
	return err
}

func (r *remote) abandoned(ctx context.Context) bool {
	// The file holder names the client's process. That process may still exist although the client has left for good,
	// so remove the file: otherwise the watchdog would not remove the supervisor's directory.
	lines, err := r.ask(ctx, `D=${TMUX_TMPDIR:-/tmp}/buddy-$(id -u)/`+r.name+`; [ -e "$D/`+leftMark+`" ] && [ -r "$D/lib" ] || exit 1; . "$D/lib"; rm -f "$D/holder"; greet`)
	if err != nil {
		return false
	}
	info, _, err := parseInfo(lines[0])
	return err == nil && !info.Busy
}

func (r *remote) drop() {
	r.release()
	r.mu.Lock()
	fetch, fetched := r.fetch, r.fetched
	r.dropped = true
	r.mu.Unlock()
	if fetch != nil {
		fetch()
		<-fetched
	}
}

// release disconnects from the supervisor, which may finish its command.
func (r *remote) release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.unlink != nil {
		r.unlink()
	}
	r.unlink = nil
}

// remove deletes the files on the target. Before that it waits until the end of the last command is recorded here, for
// startLimit at most.
func (r *remote) remove(ctx context.Context) error {
	select {
	case r.slot <- struct{}{}:
		<-r.slot
	case <-time.After(startLimit):
	case <-ctx.Done():
	}
	r.mu.Lock()
	dir := host.Quote(r.made)
	r.mu.Unlock()
	// The watchdog of the supervisor may be deleting the same files.
	_, err := r.ask(ctx, "for i in 1 2 3 4 5 6 7 8 9 10; do rm -rf "+dir+" 2>/dev/null && break; sleep 0.5; done; [ ! -e "+dir+" ]")
	return err
}

// fetchLate keeps recording the output of background jobs of a command that has ended, then removes the command's files
// from the target.
func (r *remote) fetchLate(m *mirror) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.late = append(r.late, m)
	if r.fetch != nil || r.dropped {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	r.fetch, r.fetched = stop, make(chan struct{})
	go r.fetchAll(ctx)
}

func (r *remote) fetchAll(ctx context.Context) {
	defer close(r.fetched)
	for {
		r.mu.Lock()
		if len(r.late) == 0 || ctx.Err() != nil {
			r.fetch()
			r.fetch = nil
			r.mu.Unlock()
			return
		}
		m := r.late[0]
		r.late = r.late[1:]
		others := len(r.late)
		r.mu.Unlock()
		if m.more(ctx, others > 0) {
			r.mu.Lock()
			r.late = append(r.late, m)
			r.mu.Unlock()
		}
	}
}

// askLimit bounds a short request to a target, including the time to connect.
const askLimit = 40 * time.Second
