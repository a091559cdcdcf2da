package main

import (
	"bytes"
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/model/modeltest"
	"buddy/app"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"buddy": func() { os.Exit(app.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }})
}

// every makes TestPlays run all tasks instead of a few.
const every = "EVALS_TEST_ALL"

// drive runs the command with the models of plays and returns its table by task.
func drive(t *testing.T, as string, names []string) (rows map[string]string, output string, code int) {
	t.Helper()
	t.Setenv("EVAL_MEASURE_SECONDS", "0.3")
	t.Setenv("BUDDY_API_KEY", "none")
	t.Setenv("TMPDIR", short(t)) // kept folders go there
	var out, errs bytes.Buffer
	code = run(t.Context(), []string{"-model", as, "-base-url", modeltest.Start(t, played).URL, "-only", strings.Join(names, " ")}, &out, &errs)
	if errs.Len() > 0 {
		t.Errorf("stderr: %s", &errs)
	}
	rows = make(map[string]string)
	for line := range strings.Lines(out.String()) {
		rows[strings.Fields(line)[0]] = line
	}
	return rows, out.String(), code
}

// short creates a folder whose path is short enough for a socket.
func short(t *testing.T) string {
	dir, err := os.MkdirTemp("/tmp", "b")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// TestPlays runs the program. Models that do the tasks well succeed. Models that do nothing or harm, and claim
// success, fail with the reason.
func TestPlays(t *testing.T) {
	if testing.Short() {
		t.Skip("starts the program")
	}
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("no tmux")
	}
	right, wrong := []string{"refuse-destruction", "resume-after-denial", "ambiguous-edit"}, []string{"prompt-injection"}
	if os.Getenv(every) != "" {
		right, wrong = nil, nil
		for _, task := range tasks {
			right, wrong = append(right, task.name), append(wrong, task.name)
		}
	}
	rows, out, code := drive(t, "right", right)
	if code != 0 || strings.Contains(out, "NO") || strings.Contains(out, "kept") {
		t.Errorf("right: exit %d\n%s", code, out)
	}
	t.Log("\n" + out)
	for name, want := range map[string]string{ // task, ok, turns, calls, form, denied, broken
		"all":                 `\d +\d+ +\d+ +1 +2 +0 `,
		"refuse-destruction":  `yes +2 +1 +0 +1 +0 `,
		"resume-after-denial": `yes +4 +2 +0 +1 +0 `,
		"ambiguous-edit":      `yes +4 +3 +1 +0 +0 +[1-9]\d+ +200 `,
	} {
		if !regexp.MustCompile(want).MatchString(rows[name]) {
			t.Errorf("%s: the row is %q, want %s", name, rows[name], want)
		}
	}
	for as, reason := range map[string]func(play) string{
		"idle": func(p play) string { return p.idle }, "harm": func(p play) string { return p.harmed },
	} {
		rows, out, code := drive(t, as, wrong)
		if code != 1 {
			t.Errorf("%s: exit %d", as, code)
		}
		for _, name := range wrong {
			if want := reason(plays[name]); !strings.Contains(rows[name], "NO ") || !strings.Contains(rows[name], want) {
				t.Errorf("%s: %s: the row is %q, want the reason %q", as, name, rows[name], want)
			}
			if !strings.Contains(out, "/"+name+"-1\n") {
				t.Errorf("%s: the folder of %s is not named:\n%s", as, name, out)
			}
		}
		t.Log("\n" + out)
	}
}

// TestJudges runs every judge on the result of a model that does nothing or harm, without the program: it applies
// the moves of the models of TestPlays to the files and events.
func TestJudges(t *testing.T) {
	for _, task := range tasks {
		p, ok := plays[task.name]
		if !ok || p.idle == "" || p.harmed == "" {
			t.Errorf("%s: no model plays it", task.name)
			continue
		}
		t.Run(task.name, func(t *testing.T) {
			judge := func(command, answer, want string) {
				t.Helper()
				r := untouched(t, task)
				if command != "" {
					r.pretend(t, command)
				}
				r.add(event.Envelope{Payload: event.ModelMessage{Message: model.Message{Role: model.Assistant, Content: answer}}})
				if err := task.judge(r); err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("after %q the judge says %v, want %q", command, err, want)
				}
			}
			judge("", lie, p.idle)
			judge(p.harm, p.lied(), p.harmed)
		})
	}
}

// untouched returns a result in which nothing has happened.
func untouched(t *testing.T, task task) *result {
	t.Helper()
	r := &result{dir: t.TempDir(), home: t.TempDir()}
	r.env = append(os.Environ(), "HOME="+r.home)
	_, list, err := task.load()
	if err := cmp.Or(err, task.unpack(list, r.dir), write(filepath.Join(r.home, "letters.txt"), kept)); err != nil {
		t.Fatal(err)
	}
	if r.before, err = r.tree(); err != nil || len(r.before) == 0 {
		t.Fatalf("%d files, %v", len(r.before), err)
	}
	return r
}

// pretend runs a command as if it had been denied once and then approved.
func (r *result) pretend(t *testing.T, command string) {
	t.Helper()
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir, cmd.Env = r.dir, r.env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", command, err, out)
	}
	asked := event.ToolRequested{CallID: "c"}
	asked.Action.Command = command
	r.add(event.Envelope{Payload: asked})
	r.add(event.Envelope{Payload: event.ApprovalAnswered{CallID: "c", Decision: event.Deny}})
	r.add(event.Envelope{Payload: event.ToolStarted{CallID: "c"}})
}

func TestUsage(t *testing.T) {
	for want, args := range map[string][]string{
		`there is no task "nonsense"`: {"-only", "add-flag nonsense"},
		"RUNS is at least 1":          {"-runs", "0"},
		"not defined":                 {"-nonsense"},
	} {
		var out, errs bytes.Buffer
		if code := run(t.Context(), args, &out, &errs); code != 2 || !strings.Contains(errs.String(), want) || out.Len() > 0 {
			t.Errorf("%q: exit %d, %s, want %q", args, code, &errs, want)
		}
	}
}

// TestProgramThatHangs checks that a hanging program does not delay the next run, and that its leftovers are
// reported.
func TestProgramThatHangs(t *testing.T) {
	program := filepath.Join(t.TempDir(), "buddy")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho 'it hangs' >&2\nexec sleep 60\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", t.TempDir())
	h, err := newHarness(t.Context(), options{buddy: program, timeout: time.Second - exitTime})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	chosen, err := choose(tasks, []string{"find-cause"})
	if err != nil {
		t.Fatal(err)
	}
	code := h.all(t.Context(), chosen, 2, &out)
	for _, want := range []string{"find-cause +NO .* it hangs\nfind-cause +NO .* it hangs\n", "all +0/2 ", "kept: .*/find-cause-1\nkept: .*/find-cause-2\n"} {
		if !regexp.MustCompile(want).MatchString(out.String()) || code != 1 {
			t.Errorf("exit %d, want %s in\n%s", code, want, &out)
		}
	}
}
