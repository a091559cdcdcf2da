package workflow_test

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"

	"buddy/extensions/workflow"
)

// commandWith returns a workflow with one command. Its inputs are v, w, n (a number) and l (a list).
func commandWith(command string) string {
	text, _ := json.Marshal(command) // JSON is YAML
	return "name: x\ndescription: d\ninputs: {v: {type: string, optional: true}, w: {type: string, optional: true}, n: {type: int, default: 3}, l: {type: list, optional: true}}\n" +
		"steps:\n  - {id: a, tool: run_shell, params: {command: " + string(text) + "}}\n"
}

// render returns the command with values, or an error.
func render(t testing.TB, command string, values workflow.Values) (string, error) {
	t.Helper()
	w, mistakes := workflow.Parse([]byte(commandWith(command)))
	if len(mistakes) > 0 {
		return "", fmt.Errorf("%s", mistakes[0].Reason)
	}
	args, err := w.Steps[0].Arguments(workflow.Scope{Inputs: values})
	if err != nil {
		return "", err
	}
	var got struct{ Command string }
	if err := json.Unmarshal(args, &got); err != nil {
		t.Fatal(err)
	}
	return got.Command, nil
}

// shells returns the installed shells for the tests.
func shells(t testing.TB) (all []string) {
	for _, name := range []string{"bash", "dash", "zsh", "busybox"} {
		if path, err := exec.LookPath(name); err == nil {
			all = append(all, path)
		}
	}
	if len(all) == 0 {
		t.Skip("no shell")
	}
	return all
}

// output runs a command in a folder that stays empty unless a value is executed.
func output(t testing.TB, shell, dir, command string) string {
	t.Helper()
	args := []string{"-c", command}
	if strings.HasSuffix(shell, "busybox") {
		args = append([]string{"sh"}, args...)
	}
	c := exec.Command(shell, args...)
	c.Dir, c.Env = dir, []string{"PATH=/usr/bin:/bin", "HOME=" + dir}
	out, err := c.CombinedOutput()
	if err != nil {
		t.Errorf("%s -c %q: %v\n%s", shell, command, err, out)
	}
	return string(out)
}

var hostile = []string{
	"main", "", " ", ";rm -rf ~", "a; touch pwned", "$(touch pwned)", "`touch pwned`", "a\nb\ntouch pwned\n", "'", "''", `"`, `\`, `'\''`, `\'`, "a'b'c", "'; touch pwned; '",
	"$HOME", "${IFS}", "*", "~", "!!", "#x", "\t", "a\r\nb", "x=1", "{a,b}", "&&", "|", ">pwned", "ü\u202e€", "\x1b[31m", "%s", `\n`, "=ls", "^a^b",
}

// TestEveryValueIsOneWord checks that shells pass on any value unchanged, at all accepted places.
func TestEveryValueIsOneWord(t *testing.T) {
	t.Parallel()
	places := []struct{ command, want string }{ // %s is the value
		{"printf '<%s>' {{ inputs.v }}", "<%s>"},
		{"printf '<%s>' a{{inputs.v}}b", "<a%sb>"},
		{"printf '<%s>' --x={{ inputs.v }}", "<--x=%s>"},
		{`printf '<%s>' "a"{{ inputs.v }}'b'`, "<a%sb>"},
		{"printf '<%s>' {{ inputs.v }}{{ inputs.v }}", "<%s%[1]s>"},
		{"x={{ inputs.v }}; printf '<%s>' \"$x\"", "<%s>"},
		{"export x={{ inputs.v }}; printf '<%s>' \"$x\"", "<%s>"},
		{`printf '<%s>' "$(printf '%s.' {{ inputs.v }})"`, "<%s.>"},
		{`printf '<%s>' "a $(printf '%s.' "b $(printf '%s.' {{ inputs.v }})")"`, "<a b %s..>"},
		{"for x in {{ inputs.v }}; do printf '<%s>' \"$x\"; done", "<%s>"},
		{"case {{ inputs.v }} in {{ inputs.v }}) printf '<%s>' {{ inputs.v }};; esac", "<%s>"},
		{"f() { printf '<%s>' \"$1\"; }; f {{ inputs.v }}", "<%s>"},
		{"if [ -z {{ inputs.v }} ]; then :; fi; printf '<%s>' {{ inputs.v }} # a comment", "<%s>"},
		{"sh -c 'printf \"<%s>\" \"$1\"' sh {{ inputs.v }}", "<%s>"},
		{"(printf '<%s>' {{ inputs.v }}) | cat && true", "<%s>"},
		{"printf '<%s>' \\\n  {{ inputs.v }}", "<%s>"},
		{`printf '<%s>' \\{{ inputs.v }}`, `<\%s>`},
		{`printf '<%s>' '{{ "{{" }}'{{ inputs.v }}`, "<{{%s>"},
	}
	dir := t.TempDir()
	for _, shell := range shells(t) {
		var all, want strings.Builder // one process per shell
		for n, place := range places {
			starts := strings.Contains(place.command, "$(") || strings.Contains(place.command, "sh -c") || strings.Contains(place.command, "|")
			for i, v := range hostile {
				if starts && (i+n)%4 != 0 { // each such place costs a process, and values repeat
					continue
				}
				command, err := render(t, place.command, workflow.Values{"v": v})
				if err != nil {
					t.Fatalf("%q with %q: %v", place.command, v, err)
				}
				fmt.Fprintf(&all, "%s\n:\n", command)
				fmt.Fprintf(&want, strings.ReplaceAll(place.want, "%s", "%[1]s"), v)
			}
		}
		if got := output(t, shell, dir, all.String()); got != want.String() {
			t.Errorf("%s: words differ:\n%q\n%q", shell, got, want.String())
		}
		if got := output(t, shell, dir, "ls -A"); got != "" {
			t.Errorf("%s: a value was run: %q", shell, got)
		}
	}
}

// TestValuesWhereTheyCantBeOneWordAreRefused checks each place that quoting can't make safe.
func TestValuesWhereTheyCantBeOneWordAreRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ command, why string }{
		{`echo "{{ inputs.v }}"`, "is in quotes"},
		{`echo '{{ inputs.v }}'`, "is in quotes"},
		{`echo "a$(echo "{{ inputs.v }}")"`, "is in quotes"},
		{`echo $'{{ inputs.v }}'`, "is in quotes"},
		{"cat <<E\n{{ inputs.v }}\nE", "here-document"},
		{"cat <<'E'\n{{ inputs.v }}\nE", "here-document"},
		{"cat <<E\n$(echo {{ inputs.v }})\nE", "here-document"},
		{"cat <<{{ inputs.v }}\nx\n{{ inputs.v }}", "here-document"},
		{"echo `echo {{ inputs.v }}`", "backquotes"},
		{"true # {{ inputs.v }}", "in a comment"},
		{`echo \{{ inputs.v }}`, "after a backslash"},
		{`echo a\\\{{ inputs.v }}`, "after a backslash"},
		{"echo ${{ inputs.v }}", "inside a ${…} expansion"},
		{"echo ${x:-{{ inputs.v }}}", "inside a ${…} expansion"},
		{"echo $(( {{ inputs.v }} + 1 ))", "arithmetic"},
		{"(( {{ inputs.n }} ))", "arithmetic"},
		{"let x={{ inputs.v }}", "arithmetic"},
		{"[[ {{ inputs.v }} -eq 1 ]]", "[[ ]]"},
		{"[ {{ inputs.v }} -eq 1 ]", "-eq"},
		{"test -v {{ inputs.v }}", "-v"},
		{"{{ inputs.v }} x", "place of a program's name"},
		{"sudo -u root {{ inputs.v }}", ""}, // the word after -u may be the last one
		{"sudo {{ inputs.v }}", "place of a program's name"},
		{"X=1 {{ inputs.v }}", "place of a program's name"},
		{"echo x | xargs {{ inputs.v }}", "place of a program's name"},
		{"eval {{ inputs.v }}", "passed to eval"},
		{"ssh web {{ inputs.v }}", "passed to ssh"},
		{"sudo -u root bash -c {{ inputs.v }}", "program for bash"},
		{"bash -lc {{ inputs.v }}", "program for bash"},
		{"timeout 5 sh -ec echo{{ inputs.v }}", "program for sh"},
		{"docker exec web sh -c {{ inputs.v }}", "program for sh"},
		{"bash -c -- {{ inputs.v }}", "program for bash"},
		{"bash -c '--' {{ inputs.v }}", "program for bash"},
		{"bash -c -e {{ inputs.v }}", "program for bash"},
		{"bash -c -o pipefail -- {{ inputs.v }}", "program for bash"},
		{"env A=b bash -c -- {{ inputs.v }}", "program for bash"},
		{"python3 -W ignore -c {{ inputs.v }}", "program for python3"},
		{"find . -exec sh -c {{ inputs.v }} ';'", "program for sh"},
		{"python3 -c {{ inputs.v }}", "program for python3"},
		{"trap {{ inputs.v }} EXIT", "passed to trap"},
		{"read {{ inputs.v }}", "passed to read"},
		{"unset {{ inputs.v }}", "passed to unset"},
		{"rm -{{ inputs.v }}", "in the option -"},
		{"rm --{{ inputs.v }}", "in the option --"},
		{"head -n{{ inputs.v }}", "in the option -n"},
		{"{{ inputs.v }}=1", "expects no word"},
		{". {{ inputs.v }}", "passed to ."},
		{"export {{ inputs.v }}", "expects no word"},
		{"declare -i x={{ inputs.v }}", "with options"},
		{"a[{{ inputs.v }}]=1", "variable"},
		{"for {{ inputs.v }} in a; do :; done", "expects no word"},
		{"{{ inputs.v }}() { :; }", "expects no word"},
		{"echo @({{ inputs.v }})", "expects no word"},
		{"echo 'x", "does not understand"},
		{"echo {{ inputs.v }} )", "does not understand"},
	} {
		got, err := render(t, c.command, workflow.Values{"v": "x"})
		switch {
		case c.why == "":
			if err != nil {
				t.Errorf("%s: %v", c.command, err)
			}
		case err == nil:
			t.Errorf("%s: became %s", c.command, got)
		case !strings.Contains(err.Error(), c.why):
			t.Errorf("%s: %v, want %q", c.command, err, c.why)
		case strings.Contains(err.Error(), "Value"):
			t.Errorf("%s: the error names what nobody wrote: %v", c.command, err)
		}
	}
}

// TestNumbersMayStandInOptions checks that a number is accepted in an option.
func TestNumbersMayStandInOptions(t *testing.T) {
	t.Parallel()
	for _, c := range []string{"head -n{{ inputs.n }} f", "[ 1 -lt {{ inputs.n }} ]"} {
		if _, err := render(t, c, workflow.Values{"n": 3}); err != nil {
			t.Errorf("%s: %v", c, err)
		}
	}
}

// TestAValueIsNoOption checks that a leading - is refused where a program would read an option.
func TestAValueIsNoOption(t *testing.T) {
	t.Parallel()
	for command, refused := range map[string]bool{
		"git checkout {{ inputs.v }}":               true,
		"git checkout {{ inputs.w }}{{ inputs.v }}": true,
		"git checkout ''{{ inputs.v }}":             true,
		"for x in {{ inputs.v }}; do rm $x; done":   true,
		"git checkout -- {{ inputs.v }}":            false,
		"git log --author={{ inputs.v }}":           false,
		"rm ./{{ inputs.v }}":                       false,
		"x={{ inputs.v }}":                          false,
		"cat < {{ inputs.v }}":                      false,
	} {
		_, err := render(t, command, workflow.Values{"v": "-rf", "w": ""})
		if (err != nil) != refused {
			t.Errorf("%s: %v", command, err)
		}
	}
	if _, err := render(t, "echo {{ inputs.v }}", workflow.Values{"v": "a\x00b"}); err == nil {
		t.Error("a NUL byte passed")
	}
}

// TestAListIsOneWordOfLines checks that a list stays one word.
func TestAListIsOneWordOfLines(t *testing.T) {
	t.Parallel()
	command, err := render(t, "printf '%s' {{ inputs.l }}", workflow.Values{"l": []string{"a b", "c'd"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := output(t, shells(t)[0], t.TempDir(), command); got != "a b\nc'd" {
		t.Errorf("%q became %q", command, got)
	}
}

// FuzzWord checks that any value is exactly one word.
func FuzzWord(f *testing.F) {
	for _, v := range hostile {
		f.Add(v)
	}
	bash := shells(f)[0]
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, v string) {
		command, err := render(t, "printf '<%s>' a{{ inputs.v }}b {{ inputs.v }}", workflow.Values{"v": v})
		if err != nil {
			if !strings.ContainsRune(v, 0) && !strings.HasPrefix(v, "-") {
				t.Fatal(err)
			}
			return
		}
		if !json.Valid([]byte(`"`+v+`"`)) && strings.ToValidUTF8(v, "") != v {
			return // a JSON string contains no such bytes
		}
		if got, want := output(t, bash, dir, command), fmt.Sprintf("<a%sb><%s>", v, v); got != want {
			t.Errorf("%q: %q, want %q", v, got, want)
		}
	})
}

// FuzzCommand checks that an accepted command passes on a hostile value unchanged.
func FuzzCommand(f *testing.F) {
	for _, c := range []string{"echo {{ inputs.v }}", `"{{ inputs.v }}"`, "a `{{inputs.v}}` $(b {{ inputs.v }})", "cat <<E\n{{ inputs.v }}\nE\n", `\{{ inputs.v }}`, "x={{inputs.v}} y"} {
		f.Add(c)
	}
	f.Fuzz(func(t *testing.T, command string) {
		plain, err := render(t, command, workflow.Values{"v": "x", "w": "x", "n": 3, "l": []string{"x"}})
		if err != nil {
			return
		}
		const v = "a\n; touch pwned $(touch pwned) \"`#"
		got, err := render(t, command, workflow.Values{"v": v, "w": v, "n": 3, "l": []string{v, v}})
		if a, b := shape(t, plain), shape(t, got); err != nil || a != b {
			t.Errorf("%q: %q is %s\n%q is %s, %v", command, plain, a, got, b, err)
		}
	})
}

// shape returns the structure of a command without its texts.
func shape(t testing.TB, command string) string {
	file, err := syntax.NewParser().Parse(strings.NewReader(command), "")
	if err != nil {
		t.Errorf("%q: %v", command, err)
		return ""
	}
	var b strings.Builder
	syntax.Walk(file, func(n syntax.Node) bool {
		fmt.Fprintf(&b, "%T ", n)
		return true
	})
	return b.String()
}
