package policy

import (
	"os"
	"strings"
	"testing"

	"buddy/agent/action"
)

// table returns the rows of a file in testdata with a number of tab-separated columns. \n stands for a newline in
// rows that end with " ## escaped".
func table(tb testing.TB, file string, columns int) [][]string {
	tb.Helper()
	data, err := os.ReadFile("testdata/" + file)
	if err != nil {
		tb.Fatal(err)
	}
	var rows [][]string
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || strings.HasPrefix(line, "# ") {
			continue
		}
		if s, ok := strings.CutSuffix(line, " ## escaped"); ok {
			line = strings.ReplaceAll(s, `\n`, "\n")
		}
		row := strings.Split(line, "\t")
		if len(row) != columns {
			tb.Fatalf("%s: %q has %d columns, want %d", file, line, len(row), columns)
		}
		rows = append(rows, row)
	}
	return rows
}

// TestNever checks that commands that destroy a machine or a home are denied in every mode and spelling, and that
// harmless look-alikes are not.
func TestNever(t *testing.T) {
	p := Policy{Workspace: "/w", Home: "/home/ann", Confined: true}
	count := make(map[string]int)
	for _, row := range table(t, "never.txt", 2) {
		want, command := row[0], row[1]
		count[want]++
		v := p.Judge(sh(command), action.ModeAsk)
		got := map[action.Decision]string{action.Allow: "free", action.Ask: "ask", action.Deny: "never"}[v.Decision]
		if got != want {
			t.Errorf("%s: %s (%s), want %s", command, got, v.Reason, want)
		}
		if all := p.Judge(sh(command), action.ModeAll); (all.Decision == action.Deny) != (want == "never") {
			t.Errorf("%s in mode all: %s (%s), want %s", command, all.Decision, all.Reason, want)
		}
	}
	if count["never"] < 150 || count["ask"]+count["free"] < 60 {
		t.Errorf("too few rows: %v", count)
	}
}

// TestDenyRules checks that a rule denies what it names in every spelling, and nothing else; a command that may
// turn out to match needs approval even where everything is allowed.
func TestDenyRules(t *testing.T) {
	rows := table(t, "deny.txt", 3)
	for _, row := range rows {
		r := action.Rule{Decision: action.Deny, Source: action.FromUser}
		switch kind, value, _ := strings.Cut(row[0], ":"); kind {
		case "path":
			r.Path = value
		case "host":
			r.Host = value
		default:
			r.Prefix = strings.Fields(row[0])
		}
		p := Policy{Workspace: "/w", Home: "/home/ann", Rules: []action.Rule{r}}
		v := p.Judge(sh(row[2]), action.ModeAll)
		if got := map[action.Decision]string{action.Allow: "no", action.Ask: "ask", action.Deny: "deny"}[v.Decision]; got != row[1] {
			t.Errorf("rule %s: %s: %s (%s), want %s", row[0], row[2], got, v.Reason, row[1])
		}
		if none := (Policy{Workspace: "/w", Home: "/home/ann"}).Judge(sh(row[2]), action.ModeAll); none.Decision != action.Allow {
			t.Errorf("%s is %s without the rule (%s): it shows nothing", row[2], none.Decision, none.Reason)
		}
	}
	if len(rows) < 150 {
		t.Errorf("%d rows", len(rows))
	}
}

// TestWhatRunsBeforeASyntaxErrorIsJudged checks lines before a syntax error, which a shell runs.
func TestWhatRunsBeforeASyntaxErrorIsJudged(t *testing.T) {
	rm := action.Rule{Decision: action.Deny, Source: action.FromUser, Prefix: []string{"rm", "-rf"}}
	long := strings.Repeat("echo hello\n", 2000)
	for _, tt := range []struct {
		command string
		rules   []action.Rule
		want    action.Decision
	}{
		{"rm -rf x\nif true", []action.Rule{rm}, action.Deny},
		{"echo x\nif true", []action.Rule{rm}, action.Ask},
		{"echo x\nif true", nil, action.Allow},
		{"rm -rf /\nif true", nil, action.Deny},
		{long + "rm -rf x", []action.Rule{rm}, action.Ask},
		{long, nil, action.Allow},
	} {
		p := Policy{Workspace: "/w", Home: "/home/ann", Rules: tt.rules}
		if v := p.Judge(sh(tt.command), action.ModeAll); v.Decision != tt.want {
			t.Errorf("%.40q with %d rules: %s (%s), want %s", tt.command, len(tt.rules), v.Decision, v.Reason, tt.want)
		}
	}
}

// TestEverydayIsNotDenied checks that everyday commands do not count as harm.
func TestEverydayIsNotDenied(t *testing.T) {
	p := Policy{Workspace: "/w", Home: "/home/ann", Confined: true}
	lines := 0
	for _, file := range []string{"daily", "everyday", "services", "core"} {
		data, err := os.ReadFile("shell/testdata/" + file + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			line = strings.TrimSuffix(line, "\n")
			if lines++; p.Judge(sh(line), action.ModeAll).Decision == action.Deny {
				t.Errorf("%s: %s is denied", file, line)
			}
		}
	}
	if lines < 700 {
		t.Errorf("%d lines", lines)
	}
}
