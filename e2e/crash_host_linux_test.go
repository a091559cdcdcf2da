package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/model/modeltest"
	"buddy/sessions"
	"buddy/tmux/tmuxtest"
)

// hostCrashes is smaller than the number of kills in TestCrash, because most of the time of each kill is waiting.
var hostCrashes = flag.Int("hostcrashes", 10, "how often TestCrashOfScreens kills a screen, and TestCrashOfHosts a host")

const (
	crashOneSession = 30              // kills of one session
	crashWords      = 40              // words of an answer before its command
	crashEnd        = 25              // words of an answer after it
	crashCycle      = 4 * time.Second // about the time of a prompt and its complete answer
	crashStart      = 150 * time.Millisecond
	crashDetach     = 40 * time.Millisecond
)

// TestCrashOfScreens kills the screen of a session at any instant, with -9, by SIGHUP and by closing its terminal. The
// host keeps running; the next screen shows everything that the killed one had shown and everything since, without a
// gap; buddy logs prints everything stored; every answer is complete, no prompt is lost or doubled, and no command runs
// twice.
func TestCrashOfScreens(t *testing.T) {
	crashSessions(t, func(x *screenCrasher, n int) {
		host := x.host()
		for i := range n {
			x.killScreen(i)
			if now := x.host(); now != host {
				t.Fatalf("process %d ran the session, now %d does", host, now)
			}
			x.check()
			x.checkLogs()
			x.attach("attach", x.id)
			if x.rng.IntN(3) > 0 { // otherwise it is killed before it shows anything
				x.showsSeen()
			}
		}
	})
}

// TestCrashOfHosts kills the host of a session at any instant. The session is valid and contains every printed event;
// the screen reports the crash and starts another host, which continues; no prompt is lost or doubled, every answer is
// complete in the end, and no command runs twice.
func TestCrashOfHosts(t *testing.T) {
	crashSessions(t, func(x *screenCrasher, n int) {
		for i := range n {
			x.killHost()
			x.check()
			x.startAgain(i%5 == 4)
		}
	})
}

// crashSessions runs sessions and kills each at most crashOneSession times.
func crashSessions(t *testing.T, run func(x *screenCrasher, n int)) {
	t.Helper()
	if testing.Short() {
		t.Skip("kills the program many times")
	}
	t.Parallel()
	t.Logf("seed %d", *crashSeed)
	rng := rand.New(rand.NewPCG(*crashSeed, 2))
	for left := *hostCrashes; left > 0; left -= crashOneSession {
		x := newScreenCrasher(t, rng)
		x.open()
		run(x, min(left, crashOneSession))
		x.finish()
		x.check()
		t.Logf("%d prompts were typed, %d commands called", x.asked, x.calls)
	}
}

// screenCrasher is a crasher whose session has a host, and screens in a terminal.
type screenCrasher struct {
	*crasher
	srv   *tmuxtest.Server
	id    string // of the session
	pid   int    // of the program in the terminal
	asked int    // number of the newest typed prompt
	seen  seen
}

// seen counts how much of the answer to a prompt a screen has shown: words before the command and after it.
type seen struct{ prompt, words, end int }

func newScreenCrasher(t *testing.T, rng *rand.Rand) *screenCrasher {
	t.Helper()
	x := &screenCrasher{srv: tmuxtest.New(t)}
	x.crasher = newCrasher(t, rng)
	x.serve(x.answer)
	path, err := exec.LookPath("buddy")
	if err != nil {
		t.Fatal(err)
	}
	var script strings.Builder
	script.WriteString("exec env -i")
	for _, kv := range append(x.env, "TERM=tmux-256color", "GORACE=atexit_sleep_ms=0") {
		script.WriteString(" '" + strings.ReplaceAll(kv, "'", `'\''`) + "'")
	}
	fmt.Fprintf(&script, " '%s' --config '%s' \"$@\"\n", path, filepath.Join(x.work, "buddy.toml"))
	if err := os.WriteFile(filepath.Join(x.work, "screen"), []byte(script.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	x.srv.Tmux("new-session", "-d", "-s", "t", "-x", "100", "-y", "60", "-c", x.work, "exec sleep 1000")
	x.srv.Tmux("set-option", "-g", "remain-on-exit", "on")
	t.Cleanup(func() {
		for _, pid := range x.hosts() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	return x
}

// answer returns numbered words, one command call and more words, all for the newest "prompt-N".
func (x *screenCrasher) answer(req modeltest.Request) modeltest.Answer {
	x.mu.Lock()
	defer x.mu.Unlock()
	prompt, done := 0, false
	for _, m := range req.Messages {
		switch n := numbers(`\bprompt-(\d+)\b`, m.Content); {
		case m.Role == model.User && len(n) > 0:
			prompt, done = n[len(n)-1], false
		case m.Role == model.Tool:
			done = done || strings.Contains(m.Content, fmt.Sprintf("out-%d-", prompt))
		}
	}
	slow := modeltest.Chunks{Bytes: 6, Every: 8 * time.Millisecond}
	if done {
		return modeltest.Answer{slow, modeltest.Text(words("e", prompt, crashEnd))}
	}
	x.calls++
	command := fmt.Sprintf("echo run-%d >> ran; sleep 0.2; echo out-%d-%d", x.calls, prompt, x.calls)
	return modeltest.Answer{slow, modeltest.Text(words("w", prompt, crashWords)), shellCall(fmt.Sprintf("call-%d", x.calls), command)}
}

// words returns numbered words of the answer to a prompt.
func words(name string, prompt, n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("%s%d-%d.", name, prompt, i+1)
	}
	return strings.Join(all, " ")
}

// numbers returns the numbers in the group of a pattern that matches in a text.
func numbers(pattern, text string) (all []int) {
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		n, _ := strconv.Atoi(m[1]) // the pattern matches digits only
		all = append(all, n)
	}
	return all
}

// open starts a session and waits for the first words of an answer.
func (x *screenCrasher) open() {
	x.t.Helper()
	x.attach()
	x.until("a screen", func(s string) bool { return strings.Contains(s, "F1 help") })
	x.ask(nil)
	x.until("an answer", func(s string) bool { return strings.Contains(s, "w1-1.") })
	x.id = strings.TrimSuffix(filepath.Base(x.files()[0]), ".jsonl")
}

// attach replaces the program in the terminal by a new one.
func (x *screenCrasher) attach(args ...string) {
	x.t.Helper()
	x.srv.Tmux(append([]string{"respawn-pane", "-k", "-t", "t", "-c", x.work, "sh", "./screen"}, args...)...)
	pid, err := strconv.Atoi(x.srv.Tmux("display-message", "-p", "-t", "t", "#{pane_pid}"))
	if err != nil {
		x.t.Fatal(err)
	}
	x.pid = pid
}

// ended reports whether the program in the terminal has ended, which tmux may fail to notice.
func (x *screenCrasher) ended() bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", x.pid))
	return err != nil || strings.HasPrefix(string(stat[bytes.LastIndexByte(stat, ')')+1:]), " Z")
}

func (x *screenCrasher) screen() string { return x.srv.Tmux("capture-pane", "-p", "-t", "t") }

func (x *screenCrasher) keys(keys ...string) {
	x.srv.Tmux(append([]string{"send-keys", "-t", "t"}, keys...)...)
}

// buddy runs a command besides the screen until ctx ends, and returns its output.
func (x *screenCrasher) buddy(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "buddy", args...)
	cmd.Dir, cmd.Env = x.work, x.env
	return cmd.Output()
}

// until waits until is accepts the screen.
func (x *screenCrasher) until(what string, is func(screen string) bool) {
	x.t.Helper()
	var screen string
	for end := time.Now().Add(time.Minute); !is(screen); screen = x.screen() {
		if time.Now().After(end) {
			x.t.Fatalf("not within a minute: %s\n%s\n%s", what, screen, x.journals())
		}
		<-time.After(10 * time.Millisecond)
	}
}

// hosts returns the processes that run sessions in the folder, by their arguments: an ordinary user can't read the
// current folder of a process that hides from debuggers.
func (x *screenCrasher) hosts() (pids []int) {
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline") // the pattern is valid
	for _, path := range lines {
		line, _ := os.ReadFile(path) // it may have ended
		args := strings.Split(string(line), "\x00")
		if len(args) < 2 || args[1] != "host" || !slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "--of="+x.work+"/") }) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// host returns the only host.
func (x *screenCrasher) host() int {
	x.t.Helper()
	pids := x.hosts()
	if len(pids) != 1 {
		x.t.Fatalf("processes %v run the session\n%s", pids, x.screen())
	}
	return pids[0]
}

// newest returns the number of the newest stored prompt, 0 if there is none.
func (x *screenCrasher) newest() int {
	for _, path := range x.files() {
		text, err := os.ReadFile(path)
		if err != nil {
			x.t.Fatal(err)
		}
		if n := numbers(`"text":"prompt-(\d+)"`, string(text)); len(n) > 0 {
			return slices.Max(n)
		}
	}
	return 0
}

// ask types the next prompt, replacing unsent text of an earlier screen, and waits until it is stored. Closing stop
// ends the wait.
func (x *screenCrasher) ask(stop <-chan struct{}) {
	x.asked++
	x.keys("C-e", "C-u")
	x.srv.Tmux("send-keys", "-t", "t", "-l", fmt.Sprintf("prompt-%d", x.asked))
	if !rest(stop, 300*time.Millisecond) { // as long as a person takes; an immediate Enter would count as pasted
		return
	}
	x.keys("Enter")
	for end := time.Now().Add(time.Minute); rest(stop, 10*time.Millisecond) && x.newest() < x.asked; {
		if time.Now().After(end) {
			x.t.Fatalf("prompt %d was lost\n%s\n%s", x.asked, x.screen(), x.journals())
		}
	}
}

// stored reports whether the whole answer to a prompt is stored. A screen shows text before it is stored; a prompt that
// is typed in between replaces the exchange if a crash interrupts it.
func (x *screenCrasher) stored(prompt int) bool {
	for _, path := range x.files() {
		text, _ := os.ReadFile(path) // a failure is noticed later
		for line := range bytes.Lines(text) {
			if bytes.Contains(line, []byte(`"type":"model.message"`)) && bytes.Contains(line, []byte(words("e", prompt, crashEnd))) {
				return true
			}
		}
	}
	return false
}

// rest waits for a duration. It returns false at once when stop is closed.
func rest(stop <-chan struct{}, d time.Duration) bool {
	select {
	case <-stop:
		return false
	case <-time.After(d):
		return true
	}
}

// drive acts as a person at the screen until stop is closed or, if stop is nil, until the newest prompt is answered.
func (x *screenCrasher) drive(stop <-chan struct{}) {
	x.t.Helper()
	for late := time.Now().Add(2 * time.Minute); rest(stop, 20*time.Millisecond); {
		screen := x.screen()
		if time.Now().After(late) {
			x.t.Fatalf("it does not go on\n%s\n%s", screen, x.journals())
		}
		switch {
		case x.ended():
		case strings.Contains(screen, "Press F8 to answer"):
			x.keys("C-e", "C-u", "F8")
			rest(stop, 100*time.Millisecond)
		case strings.Contains(screen, "Run this command?"):
			if rest(stop, approvalGrace) && strings.Contains(x.screen(), "Run this command?") {
				x.keys("y")
			}
			rest(stop, 100*time.Millisecond)
		case interrupted(screen):
			x.keys("C-e", "C-u", "Enter")
			rest(stop, 300*time.Millisecond)
		case x.of(screen).end < crashEnd, !x.stored(x.newest()):
		case stop == nil:
			return
		default:
			x.ask(stop)
		}
	}
}

// died reports whether the last message on the screen is that its host has died.
func died(screen string) bool {
	return strings.LastIndex(screen, "to restart it") > strings.LastIndex(screen, "continues in a new process")
}

// interrupted reports whether the last message on the screen is that the newest exchange was interrupted.
func interrupted(screen string) bool {
	i := strings.LastIndex(screen, "Enter to continue")
	return i >= 0 && len(numbers(`\b[we]\d+-(\d+)\.`, screen[i:])) == 0
}

// of returns what a screen shows of the answer to the newest stored prompt, up to the first gap.
func (x *screenCrasher) of(screen string) seen {
	s := seen{prompt: x.newest()}
	inOrder := func(name string) (n int) {
		for i, number := range numbers(fmt.Sprintf(`\b%s%d-(\d+)\.`, name, s.prompt), screen) {
			if number == 1 {
				n = 0 // a new answer, after its host was killed
			}
			if number != n+1 {
				return -i
			}
			n = number
		}
		return n
	}
	s.words, s.end = inOrder("w"), inOrder("e")
	return s
}

// sees records what a screen has shown.
func (x *screenCrasher) sees(screen string) {
	now := x.of(screen)
	if now.prompt == x.seen.prompt {
		now.words, now.end = max(now.words, x.seen.words), max(now.end, x.seen.end)
	}
	x.seen = now
}

// showsSeen waits until the screen shows everything that earlier screens have shown.
func (x *screenCrasher) showsSeen() {
	x.t.Helper()
	x.until(fmt.Sprintf("what was seen: %+v", x.seen), func(screen string) bool {
		now := x.of(screen)
		return now.prompt > x.seen.prompt || now.words >= x.seen.words && now.end >= x.seen.end
	})
}

// instant returns when to kill a process that was just started.
func (x *screenCrasher) instant() time.Duration {
	limit := crashCycle
	if x.rng.IntN(3) == 0 {
		limit = crashStart
	}
	return time.Duration(x.rng.Int64N(int64(limit)))
}

// killScreen drives the screen and ends it at some instant, perhaps while it detaches.
func (x *screenCrasher) killScreen(how int) {
	x.t.Helper()
	after, detach := x.instant(), x.rng.IntN(6) == 0
	stop := make(chan struct{})
	go func() {
		defer close(stop)
		<-time.After(after)
		if detach {
			_ = exec.Command("tmux", "-S", x.srv.Socket, "send-keys", "-t", "t", "C-\\").Run() // the tmux server may have ended
			<-time.After(time.Duration(after % crashDetach))
		}
		switch how % 3 {
		case 0:
			_ = syscall.Kill(x.pid, syscall.SIGKILL)
		case 1:
			_ = syscall.Kill(x.pid, syscall.SIGHUP)
		}
	}()
	x.drive(stop)
	if how%3 == 2 {
		x.sees(x.screen())
		x.srv.Tmux("respawn-pane", "-k", "-t", "t", "exec sleep 1000") // closes the terminal
		return
	}
	x.until("the screen ends", func(string) bool { return x.ended() })
	x.sees(x.screen())
}

// killHost drives the screen and kills its host at some instant, perhaps before the host is ready. It records every
// event that was reported to another program until then.
func (x *screenCrasher) killHost() {
	x.t.Helper()
	after := x.instant()
	output := make(chan []byte)
	ctx, cancel := context.WithCancel(x.t.Context())
	go func() {
		out, _ := x.buddy(ctx, "logs", x.id, "-f", "--json") // it finds no host, or continues with the next one
		output <- out
	}()
	var killed []int
	stop := make(chan struct{})
	go func() {
		defer close(stop)
		<-time.After(after)
		for end := time.Now().Add(time.Minute); time.Now().Before(end); <-time.After(5 * time.Millisecond) {
			killed = x.hosts()
			for _, pid := range killed {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
			if len(killed) > 0 {
				return
			}
		}
	}()
	x.drive(stop)
	x.until("the host is gone", func(string) bool {
		return !slices.ContainsFunc(x.hosts(), func(pid int) bool { return slices.Contains(killed, pid) })
	})
	cancel()
	x.remembers(<-output)
}

// startAgain starts another host, from the screen that lost the last one or from a new screen. A screen that never had
// a host has ended.
func (x *screenCrasher) startAgain(newScreen bool) {
	x.t.Helper()
	gone, runs := false, false
	x.until("the end of the host is said", func(s string) bool {
		gone, runs = x.ended(), len(x.hosts()) > 0 // a key of drive may have come after the end
		return gone || runs || died(s)
	})
	switch {
	case gone || newScreen:
		x.attach("resume", x.id)
	case !runs:
		x.keys("C-e", "C-u", "Enter")
	}
}

// finish waits for the answer to the session's newest prompt, and ends the session.
func (x *screenCrasher) finish() {
	x.t.Helper()
	if x.ended() {
		x.attach("resume", x.id)
	}
	x.drive(nil)
	if out, err := x.buddy(x.t.Context(), "stop", x.id); err != nil {
		x.t.Fatalf("%s, %v", out, err)
	}
	tmuxtest.Until(x.t, "the host ends with its session", func() bool { return len(x.hosts()) == 0 })
}

// check makes the checks of crasher, and checks prompts: each one that the model got is stored once, and each except
// the newest has a complete answer.
func (x *screenCrasher) check() {
	x.t.Helper()
	x.crasher.check()
	times := make(map[string]int)
	var answer strings.Builder
	for _, env := range x.events() {
		switch p := env.Payload.(type) {
		case event.PromptSubmitted:
			times[fmt.Sprint(p.Text, p.Queued)]++
		case event.ModelMessage:
			answer.WriteString(p.Message.Content)
		}
	}
	for what, n := range times {
		if n > 1 {
			x.t.Fatalf("%s is stored %d times\n%s", what, n, x.journals())
		}
	}
	newest := x.newest()
	for _, req := range x.server.Requests() {
		if n := numbers(`\bprompt-(\d+)\b`, lastOf(req, model.User)); len(n) > 0 && times[fmt.Sprintf("prompt-%dfalse", n[0])] == 0 {
			x.t.Fatalf("the model got prompt %d, which is not stored\n%s", n[0], x.journals())
		}
	}
	for n := 1; n < newest; n++ {
		if times[fmt.Sprintf("prompt-%dfalse", n)] == 0 {
			continue // its screen or host was killed before it was sent
		}
		if !strings.Contains(answer.String(), words("w", n, crashWords)) || !strings.Contains(answer.String(), words("e", n, crashEnd)) {
			x.t.Fatalf("the answer to prompt %d is not whole\n%s", n, x.journals())
		}
	}
}

// events returns the stored events.
func (x *screenCrasher) events() []event.Envelope {
	x.t.Helper()
	store := sessions.At(filepath.Join(x.work, ".buddyx", "sessions"))
	return x.load(store, x.id).Events
}

// remembers does what remember does for the output of buddy logs, which may start in the middle of an answer: the
// earlier part of the answer comes as a checkpoint that is not stored.
func (x *screenCrasher) remembers(out []byte) {
	var stored bytes.Buffer
	for line := range bytes.Lines(out) {
		if !bytes.Contains(line, []byte(`"type":"model.checkpoint"`)) {
			stored.Write(line)
		}
	}
	x.remember(&stored)
}

// checkLogs compares the output of buddy logs with the stored events.
func (x *screenCrasher) checkLogs() {
	x.t.Helper()
	out, err := x.buddy(x.t.Context(), "logs", x.id, "--json")
	if err != nil {
		x.t.Fatalf("%s, %v", out, err)
	}
	x.remembers(out)
	last := uint64(0)
	for line := range bytes.Lines(out) {
		var env event.Envelope
		if err := json.Unmarshal(line, &env); err != nil {
			x.t.Fatalf("%s: %v", line, err)
		}
		last = env.Seq
	}
	for _, env := range x.events() {
		if env.Seq <= last && x.printed[x.id][env.Seq] == "" && event.Type(env.Payload) != "model.checkpoint" {
			x.t.Fatalf("event %d is stored and was not printed", env.Seq)
		}
	}
}
