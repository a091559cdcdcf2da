package action

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"
)

func TestToolNamesOfTheField(t *testing.T) {
	tests := []struct {
		name string
		want string // buddy's tools, "" unknown
	}{
		{"Bash", "run_shell"},
		{"run_shell", "run_shell"},
		{"Read", "read_file"},
		{"Edit", "edit_file apply_patch"},
		{"Write", "write_file apply_patch"},
		{"MultiEdit", "edit_file apply_patch"},
		{"apply_patch", "apply_patch"},
		{"edit_file", "edit_file"},
		{"LS", "list_dir"},
		{"Task", "agent"},
		{"Agent", "agent"},
		{"KillShell", "task_kill"},
		{"TaskStop", "task_kill"},
		{"mcp__files__read", "mcp__files__read"},
		{"mcp__files", "mcp__files__*"},
		{"mcp__files__*", "mcp__files__*"},
		{"mcp__plugin_p_s__get-it", "mcp__plugin_p_s__get-it"},
		{"mcp__files__read__all", "mcp__files__read__all"},
		{"mcp__", ""},
		{"mcp____x", ""},
		{"mcp__a__", ""},
		{"mcp__*", ""},
		{"mcp__a__b*", ""},
		{"mcp__a b", ""},
		{"bash", ""},
		{"BASH", ""},
		{"", ""},
		{"*", ""},
		{"NotebookEdit", ""},
		{"Bash ", ""},
		{"Tool", ""},
	}
	for _, tt := range tests {
		got, ok := FieldTool(tt.name)
		if strings.Join(got, " ") != tt.want || ok != (tt.want != "") {
			t.Errorf("%q means %q (%v), want %q", tt.name, got, ok, tt.want)
		}
	}
	for _, f := range fieldTools {
		if got, ok := FieldTool(FieldName(f.ours)); !ok || got[0] != f.ours {
			t.Errorf("%s is %s, which means %q", f.ours, FieldName(f.ours), got)
		}
	}
	for _, own := range []string{"apply_patch", "time", "mcp__files__read"} {
		if got := FieldName(own); got != own {
			t.Errorf("%s, which has no other name, is called %q", own, got)
		}
	}
}

func TestRulesOfTheField(t *testing.T) {
	shell := func(shape Shape, prefix ...string) []Rule {
		return []Rule{{Decision: Allow, Tool: "run_shell", Prefix: prefix, Shape: shape, Source: FromUser}}
	}
	files := func(path string, tools ...string) (rules []Rule) {
		for _, tool := range tools {
			rules = append(rules, Rule{Decision: Allow, Tool: tool, Path: path, Source: FromUser})
		}
		return rules
	}
	tests := []struct {
		text string
		want []Rule
	}{
		{"Bash(git add *)", shell(AnyWords, "git", "add")},
		{"  Bash(git add:*) ", shell(AnyWords, "git", "add")},
		{"Bash(npm:*)", shell(AnyWords, "npm")},
		{"Bash(npm run test:*)", shell(AnyWords, "npm", "run", "test")},
		{"Bash(npm run test:unit)", shell(Exactly, "npm", "run", "test:unit")},
		{"Bash(go  vet ./...)", shell(Exactly, "go", "vet", "./...")},
		{"run_shell(make)", shell(Exactly, "make")},
		{"Edit(src/**)", files("src/**", "edit_file", "apply_patch")},
		{"Write(./docs/*.md)", files("docs/*.md", "write_file", "apply_patch")},
		{"Edit(src/)", files("**/src/**", "edit_file", "apply_patch")},
		{"Read(~/x)", files("~/x", "read_file")},
		{"Read(//var/log/**)", files("/var/log/**", "read_file")},
		{"Read(*.env)", files("**/*.env", "read_file")},
		{"Read(**)", files("**", "read_file")},
		{"Read", files("**", "read_file")},
		{"Edit", files("**", "edit_file", "apply_patch")},
		{"Grep", files("**", "grep")},
		{"WebFetch(domain:Example.com)", []Rule{{Decision: Allow, Tool: "fetch_url", Host: "example.com", Shape: Exactly, Source: FromUser}}},
		{"WebFetch", []Rule{{Decision: Allow, Tool: "fetch_url", Source: FromUser}}},
		{"WebSearch", []Rule{{Decision: Allow, Tool: "web_search", Source: FromUser}}},
		{"mcp__srv__tool", []Rule{{Decision: Allow, Tool: "mcp__srv__tool", Source: FromUser}}},
		{"mcp__srv", []Rule{{Decision: Allow, Tool: "mcp__srv__*", Source: FromUser}}},
	}
	for _, tt := range tests {
		if got, err := FieldRules(tt.text, Allow, FromUser); err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s gives %+v (%v), want %+v", tt.text, got, err, tt.want)
		}
	}
}

// Rules that ask or deny are not limited to the workspace and match everything below a folder.
func TestRulesOfTheFieldThatDeny(t *testing.T) {
	for text, want := range map[string]Rule{
		"Bash":             {Tool: "run_shell"},
		"Bash(*)":          {Tool: "run_shell"},
		"Bash(git push *)": {Tool: "run_shell", Prefix: []string{"git", "push"}},
		"Read":             {Tool: "read_file"},
		"Read(secrets)":    {Tool: "read_file", Path: "**/secrets/**"},
		"Read(conf/*.key)": {Tool: "read_file", Path: "conf/*.key/**"},
	} {
		want.Decision, want.Source = Deny, FromProject
		if got, err := FieldRules(text, Deny, FromProject); err != nil || len(got) != 1 || !reflect.DeepEqual(got[0], want) {
			t.Errorf("%s gives %+v (%v), want %+v", text, got, err, want)
		}
	}
}

func TestTextsWithoutACounterpartAreRefused(t *testing.T) {
	tests := []struct{ text, why string }{
		{"Bash", "it would allow every command"},
		{"Bash(*)", "it would allow every command"},
		{"Bash(:*)", "it would allow every command"},
		{"Bash( *)", "it would allow every command"},
		{"Bash()", "it names no command"},
		{"Bash(git * main)", "* is allowed only at the end"},
		{"Bash(ls*)", "* is allowed only at the end"},
		{"Bash(* --version)", "* is allowed only at the end"},
		{"Bash(git:* push)", "* is allowed only at the end"},
		{"Bash(git * *)", "* is allowed only at the end"},
		{"Bash(FOO=1 x)", "sets a variable"},
		{`Bash(git commit -m "x")`, "has a meaning to the shell"},
		{"Bash(echo 'x')", "has a meaning to the shell"},
		{"Bash(echo $HOME)", "has a meaning to the shell"},
		{"Bash(a && b)", "has a meaning to the shell"},
		{"Bash(a | b:*)", "has a meaning to the shell"},
		{"Bash(a; b)", "has a meaning to the shell"},
		{"Bash(echo (x))", "has a meaning to the shell"},
		{"Bash(ls ?)", "has a meaning to the shell"},
		{"Bash(~/bin/x)", "the shell replaces"},
		{"Bash(git\nadd)", "an invisible character"},
		{"Bash(git\u202eadd)", "an invisible character"},
		{"Bash(git add", "the closing parenthesis is missing"},
		{"Bash(git) add", "the closing parenthesis is missing"},
		{"Bash git", `unknown tool "Bash git"`},
		{"NotebookEdit", "unknown tool"},
		{"*", "unknown tool"},
		{"", "unknown tool"},
		{"Read(../x)", `part ".."`},
		{"Read(a/../../x)", `part ".."`},
		{"Read(~/../x)", `part ".."`},
		{"Read(a//b)", `part ""`},
		{"Read(/etc/x)", "a leading / is ambiguous"},
		{"Read(~ann/x)", "another user's home folder"},
		{"Read(!x)", `"!" is not supported`},
		{"Read({a,b})", `"{" is not supported`},
		{"Read([a]b)", `"[" is not supported`},
		{`Read(a\b)`, `"\\" is not supported`},
		{"Read()", "it names no file"},
		{"Read(~/)", "it names no file"},
		{"Edit(/)", "it names no file"},
		{"Edit(.)", "it names no file"},
		{"WebFetch(example.com)", "write WebFetch(domain:HOST)"},
		{"WebFetch(domain:*.example.com)", "host patterns are"},
		{"WebFetch(domain:example.com/x)", "is not a host name"},
		{"WebFetch(domain:)", "is not a host name"},
		{"WebSearch(x)", "takes no parentheses"},
		{"Agent(explore)", "takes no parentheses"},
		{"mcp__srv__tool(x)", "takes no parentheses"},
		{"mcp__srv__get_*", "unknown tool"},
		{"Bash(" + strings.Repeat("a", 2000) + ")", "is too long"},
	}
	for _, tt := range tests {
		if got, err := FieldRules(tt.text, Allow, FromUser); err == nil || !strings.Contains(err.Error(), tt.why) || got != nil {
			t.Errorf("%s gives %+v (%v), want an error with %q", tt.text, got, err, tt.why)
		}
	}
	if got, err := FieldRules("Read(x)", Allow, FromProject); err == nil || !strings.Contains(err.Error(), "a project may not allow") {
		t.Errorf("a project's allow gives %+v (%v)", got, err)
	}
}

func TestRuleOfAllToolsOfAServer(t *testing.T) {
	for name, want := range map[string]bool{"mcp__srv__a": true, "mcp__srv__b__c": true, "mcp__srv2__a": false, "mcp__s": false, "run_shell": false} {
		if got := (Rule{Tool: "mcp__srv__*"}).OfTool(name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	if (Rule{Tool: "run_*"}).OfTool("run_shell") {
		t.Error("a pattern is for tools of servers only")
	}
}

// For any text, a rule that allows names a command by plain words, a file that can't be elsewhere, a host, or one
// tool.
func FuzzFieldRules(f *testing.F) {
	for _, seed := range []string{"Bash(git add *)", "Edit(src/**)", "Read(~/x)", "WebFetch(domain:go.dev)", "mcp__a", "Bash(a && b)", "Read(//a/../b)", "Bash(\x00)", "((", "Bash(:*)"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		rules, err := FieldRules(text, Allow, FromUser)
		if (err == nil) != (len(rules) > 0) {
			t.Fatalf("%d rules and error %v", len(rules), err)
		}
		for _, r := range rules {
			switch {
			case r.Check() != nil || r.Tool == "":
				t.Errorf("%+v: %v", r, r.Check())
			case r.Tool == "run_shell" && len(r.Prefix) == 0:
				t.Errorf("%+v allows every command", r)
			case strings.ContainsAny(strings.Join(r.Prefix, " "), "*?'\"\\$`;|&<>(){}[]#!"):
				t.Errorf("%+v has words that are none", r)
			case strings.HasSuffix(r.Tool, "_file") && r.Path == "", slices.Contains(strings.Split(r.Path, "/"), ".."):
				t.Errorf("%+v reaches anywhere", r)
			case strings.IndexFunc(r.String(), unicode.IsControl) >= 0:
				t.Errorf("%+v has control characters", r)
			}
		}
	})
}
