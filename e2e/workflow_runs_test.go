package e2e

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"buddy/tmux/host/hosttest"
)

var workflowKills = flag.Int("workflowkills", 2, "how often TestWorkflowSurvivesKills kills the program")

// workflowRunner is a folder with a workflow, in which the real program runs it.
type workflowRunner struct {
	*crasher
	stderr bytes.Buffer // of the last run
}

func newWorkflowRunner(t *testing.T, name, source string) *workflowRunner {
	t.Helper()
	if testing.Short() {
		t.Skip("runs the program")
	}
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("needs tmux: ", err)
	}
	r := &workflowRunner{crasher: newCrasher(t, nil)}
	dir := filepath.Join(r.work, ".buddy/workflows")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".yaml"), []byte("name: "+name+"\ndescription: A test.\nversion: 1\n"+source), 0o600); err != nil {
		t.Fatal(err)
	}
	return r
}

// buddy runs the program, kills it after a time, 0 for never, and returns its output.
func (r *workflowRunner) buddy(after time.Duration, args ...string) (stdout string, err error) {
	r.t.Helper()
	cmd := exec.Command("buddy", args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = r.work, append(slices.Clone(r.env), "BUDDY_LOCAL_SERVERS=off"), time.Second
	var out bytes.Buffer
	r.stderr.Reset()
	cmd.Stdout, cmd.Stderr = &out, &r.stderr
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	limit := time.Minute // the program hangs
	if after > 0 {
		limit = after
	}
	kill := time.AfterFunc(limit, func() { _ = cmd.Process.Kill() })
	defer kill.Stop()
	err = cmd.Wait()
	return out.String(), err
}

// lines returns the lines of a file, sorted.
func (r *workflowRunner) lines(name string) []string {
	data, err := os.ReadFile(filepath.Join(r.work, name))
	if err != nil && !os.IsNotExist(err) {
		r.t.Fatal(err)
	}
	all := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	slices.Sort(all)
	return all
}

// A value is one word of a command whatever it contains, all the way to a real shell.
func TestWorkflowValuesStayOneWord(t *testing.T) {
	r := newWorkflowRunner(t, "words", `inputs:
  value: {type: string}
  each: {type: list}
steps:
  - {id: bare, tool: run_shell, params: {command: "printf '<%s>\\n' {{ inputs.value }} >> words"}}
  - {id: behind, tool: run_shell, params: {command: "printf '<%s>\\n' --branch={{ inputs.value }} >> words"}}
  - {id: items, tool: run_shell, each: "{{ inputs.each }}", params: {command: "printf '<%s>\\n' {{ item }} >> words"}}
`)
	hostile := []string{";rm -rf ~", "a; touch x", "$(touch x)", "`touch x`", "a b  c", "'", `"`, `\`, "*", "~", "&& touch x", "| touch x", "> x", "#no", "!!"}
	value := "two\nlines; touch x"
	if out, err := r.buddy(0, "workflow", "run", "words", "--approve", "all", "value="+value, "each="+strings.Join(hostile, ",")); err != nil {
		t.Fatalf("%v: %s%s", err, out, r.stderr.String())
	}
	data, err := os.ReadFile(filepath.Join(r.work, "words"))
	if err != nil {
		t.Fatal(err)
	}
	want := "<" + value + ">\n<--branch=" + value + ">\n"
	for _, v := range hostile {
		want += "<" + v + ">\n"
	}
	if string(data) != want {
		t.Errorf("the shell saw\n%s\nwant\n%s", data, want)
	}
	out, err := r.buddy(0, "workflow", "run", "words", "--approve", "all", "value=x", "each=-rf")
	if err == nil || !strings.Contains(r.stderr.String(), "starts with -") {
		t.Errorf("a value that is an option: %v, %s%s", err, out, r.stderr.String())
	}
	if _, err := os.Stat(filepath.Join(r.work, "x")); err == nil {
		t.Error("a value was run")
	}
}

// The program is killed at any instant of a run and continues it: no command runs twice.
func TestWorkflowSurvivesKills(t *testing.T) {
	const source = `steps:
  - {id: one, tool: run_shell, params: {command: "echo one >> ran; sleep 0.05; echo said one"}}
  - {id: many, tool: run_shell, each: [a, b, c], at_once: 2, params: {command: "echo {{ item }} >> ran; sleep 0.05"}}
  - {id: last, tool: write_file, params: {path: last.txt, content: "{{ steps.one.output }}"}}
`
	const all = "a b c one"
	r := newWorkflowRunner(t, "kills", source)
	began := time.Now()
	if out, err := r.buddy(0, "workflow", "run", "kills", "--approve", "all"); err != nil {
		t.Fatalf("%v: %s%s", err, out, r.stderr.String())
	}
	typical := time.Since(began)
	if got := strings.Join(r.lines("ran"), " "); got != all {
		t.Fatalf("without a kill: ran %q", got)
	}
	completed := 0
	for i := range *workflowKills {
		r := newWorkflowRunner(t, "kills", source)
		after := time.Duration(rand.Int64N(int64(typical)))
		_, err := r.buddy(after, "workflow", "run", "kills", "--approve", "all")
		var whole []string
		for tries := 0; err != nil && tries < 5; tries++ {
			out, _ := r.buddy(0, "workflow", "runs")
			if out == "" {
				err = nil // it was killed before the run started
				break
			}
			if !strings.Contains(out, "paused") && !strings.Contains(out, "completed") && !strings.Contains(out, "failed") {
				t.Errorf("kill %d after %v: the run of a killed process is %q", i, after, out)
			}
			if tries > 2 {
				after = 0
			}
			_, err = r.buddy(after, "workflow", "resume", "last", "--approve", "all")
			whole = append(whole, r.stderr.String())
			if strings.Contains(r.stderr.String(), "its outcome is unknown") || strings.Contains(r.stderr.String(), "no workflow is paused") {
				err = nil // a call with an unknown outcome: nobody was there to be asked
			}
		}
		if err != nil {
			t.Errorf("kill %d after %v: the run does not end: %v\n%s", i, after, err, strings.Join(whole, "\n--\n"))
		}
		ran := r.lines("ran")
		if len(slices.Compact(slices.Clone(ran))) != len(ran) {
			t.Errorf("kill %d after %v: ran %q\n%s", i, after, ran, strings.Join(whole, "\n--\n"))
		}
		if strings.Join(ran, " ") == all {
			completed++
		}
	}
	t.Logf("%d of %d runs did all of it", completed, *workflowKills)
}

// Of five machines the second fails: the later ones are not touched, and only the second one is rolled back.
func TestWorkflowOverMachines(t *testing.T) {
	if *workflowKills < 100 {
		t.Skip("takes five machines: make counterparts ONLY=workflow_runs")
	}
	const source = `inputs:
  version: {type: string, pattern: 'v\d+\.\d+\.\d+'}
  rest: {type: targets}
steps:
  - id: roll
    tool: run_shell
    each: "{{ inputs.rest }}"
    at_once: 1
    stop_after: 1
    on_error: skip
    gate: {type: approval_required, message: "Deploy {{ inputs.version }} to {{ inputs.rest }}?", timeout: 1h}
    params: {command: "echo {{ inputs.version }} > $HOME/version; test ! -e $HOME/broken"}
  - id: back
    tool: run_shell
    each: "{{ steps.roll.failed }}"
    condition: 'steps.roll.ok == false'
    gate: {type: approval_required, message: "Roll back {{ steps.roll.failed }}?"}
    params: {command: "echo old > $HOME/version"}
outputs: {done: "{{ steps.roll.done }}", failed: "{{ steps.roll.failed }}"}
`
	r := newWorkflowRunner(t, "fleet", source)
	config, names := "", []string{}
	var machines []*hosttest.SSHD
	for i := range 5 {
		s := hosttest.NewSSHD(t, "")
		name := fmt.Sprintf("web-%d", i+1)
		config += fmt.Sprintf("[targets.%s]\nssh = %q\nssh_config = %q\n", name, s.Dest, s.Config)
		machines, names = append(machines, s), append(names, name)
	}
	file := filepath.Join(r.work, "machines.toml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(homeOf(t, machines[1]), "broken"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := r.buddy(0, "workflow", "run", "fleet", "--config", file, "--approve", "all", "version=v1.2.3", "rest="+strings.Join(names, ","))
	if err != nil || !strings.Contains(out, "done: web-1\n") || !strings.Contains(out, "failed: web-2\n") {
		t.Fatalf("%v: %s\n%s", err, out, r.stderr.String())
	}
	for i, want := range []string{"v1.2.3\n", "old\n", "", "", ""} {
		data, err := os.ReadFile(filepath.Join(homeOf(t, machines[i]), "version"))
		if string(data) != want || want == "" && !os.IsNotExist(err) {
			t.Errorf("%s has version %q (%v), want %q", names[i], data, err, want)
		}
	}
	if said := r.stderr.String(); !strings.Contains(said, "Roll back web-2?") {
		t.Errorf("what was offered:\n%s", said)
	}
}

// homeOf returns the home folder of sessions on a machine.
func homeOf(t *testing.T, s *hosttest.SSHD) string {
	t.Helper()
	out, err := exec.Command("ssh", "-F", s.Config, s.Dest, "echo $HOME").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}
