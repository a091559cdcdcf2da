package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"buddy/agent/model/modeltest"
)

// The action for GitHub reviews what a pull request adds to its base: its script runs here as a runner would run it.
func TestActionReviewsAPullRequest(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../.github/actions/buddy/action.yml")
	if err != nil {
		t.Fatal(err)
	}
	var action struct {
		Inputs map[string]struct{ Default string }
		Runs   struct {
			Steps []struct {
				Env map[string]string
				Run string
			}
		}
	}
	if err := yaml.Unmarshal(text, &action); err != nil {
		t.Fatal(err)
	}
	step := action.Runs.Steps[len(action.Runs.Steps)-1]
	buddy, err := exec.LookPath("buddy")
	if err != nil {
		t.Fatal(err)
	}
	server := modeltest.Start(t, func(r modeltest.Request) modeltest.Answer {
		if !strings.Contains(lastMessage(r).Content, "+func added() {}") {
			return modeltest.Answer{modeltest.Text("no such change")}
		}
		return modeltest.Answer{modeltest.Text("```json\n[{\"severity\": \"medium\", \"file\": \"a.go\", \"line\": 2, \"text\": \"it panics\\n::error::no\"}]\n```")}
	})
	home, temp := t.TempDir(), t.TempDir()
	tools := filepath.Join(temp, "tools") // go build takes a minute: the program that the tests have built stands in for it
	if err := os.MkdirAll(filepath.Join(home, ".config/buddy"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(tools, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		filepath.Join(home, ".config/buddy/buddy.toml"): "[models.m]\napi_base_url = \"" + server.URL + "\"\napi_key = \"\"\nmodel = \"m\"\ncontext_limit = 100000\n",
		filepath.Join(tools, "go"):                      "#!/bin/sh\ntest \"$1 $3\" = '-C build' && cp '" + buddy + "' \"$5\"\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o700); err != nil { //nolint:gosec // one is a program
			t.Fatal(err)
		}
	}
	base := append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home+"/.config", "XDG_STATE_HOME="+home+"/state", "RUNNER_TEMP="+temp, "PATH="+tools+":"+os.Getenv("PATH"),
		"GIT_AUTHOR_NAME=x", "GIT_AUTHOR_EMAIL=x@x", "GIT_COMMITTER_NAME=x", "GIT_COMMITTER_EMAIL=x@x", "GITHUB_BASE_REF=main", "CI=true")
	run := func(dir, script string, env ...string) (string, error) {
		cmd := exec.Command("bash", "-c", script)
		cmd.Dir, cmd.Env = dir, append(base, env...)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	upstream, checkout := filepath.Join(temp, "upstream"), filepath.Join(temp, "checkout")
	if out, err := run(temp, "git init -q -b main upstream && cd upstream && echo 'package a' >a.go && git add . && git commit -qm one && cd .. && git clone -q upstream checkout && cd checkout && git checkout -qb change && echo 'func added() {}' >>a.go && git commit -qam two"); err != nil {
		t.Fatal(upstream, err, out)
	}
	env := func(inputs map[string]string) (all []string) {
		for name, value := range step.Env {
			for input, of := range action.Inputs {
				said, ok := inputs[input]
				if !ok {
					said = of.Default
				}
				value = strings.ReplaceAll(value, "${{ inputs."+input+" }}", said)
			}
			all = append(all, name+"="+strings.ReplaceAll(value, "${{ github.action_path }}", "/action"))
		}
		return all
	}
	const annotation = "::warning title=buddy%3A medium,file=a.go,line=2::it panics ::error::no\n"
	if out, err := run(checkout, step.Run, env(nil)...); err != nil || !strings.Contains(out, annotation) {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := run(checkout, step.Run, env(map[string]string{"fail-on": "medium", "format": "junit", "output": "made.xml"})...); err == nil || strings.Contains(out, "testsuite") {
		t.Errorf("%v\n%s", err, out)
	}
	if made, err := os.ReadFile(filepath.Join(checkout, "made.xml")); err != nil || !strings.Contains(string(made), "<failure type=\"medium\"") {
		t.Errorf("%v\n%s", err, made)
	}
	if out, err := run(checkout, step.Run, env(map[string]string{"base": "$(touch pwned); --output=pwned"})...); err == nil || exists(filepath.Join(checkout, "pwned")) {
		t.Errorf("%v\n%s", err, out)
	}
}
