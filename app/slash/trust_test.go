package slash

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// Line by line the list shows all of what is not trusted; numbers of it, or all, trust that.
func TestOnTrust(t *testing.T) {
	var told []string
	tell := func(format string, args ...any) { told = append(told, fmt.Sprintf(format, args...)) }
	var busy error
	s := Frontend{
		Say:    func(text string) { tell("%s", text) },
		Beside: func(work func() func()) { work()() },
		Failed: func(what string, err error) { tell("%s failed: %v", what, err) },
		Busy:   func() error { return busy },
		Change: func(id string) error { tell("change %s", id); return nil },
	}
	items := []TrustItem{
		{Kind: "hook", Name: "Stop", State: NotTrusted, Lines: []string{"runs: sh x.sh"}},
		{Kind: "mcp", Name: "files", State: Changed, Lines: []string{"runs: node"}},
		{Kind: "mcp", Name: "web", State: Trusted, Lines: []string{"hidden"}},
		{Kind: "mcp", Name: "huge", State: Untrustable, Lines: []string{"too long"}},
	}
	have := items
	c := Catalog{Current: func() string { return "s1" }, Trust: &TrustList{
		Folder: func() (string, error) { return "the folder is trusted", nil },
		List:   func() ([]TrustItem, error) { return have, nil },
		Diff:   func(i TrustItem) (string, error) { return "-old\n+new of " + i.Name + "\n", nil },
		Set: func(on bool, items []TrustItem) error {
			for _, i := range items {
				tell("set %v %s", on, i.Title())
				if i.State == Untrustable {
					return errors.New("no")
				}
			}
			return nil
		},
	}}
	list := "what this project runs and grants, once you trust it:\n  1  hook Stop · not trusted\n       runs: sh x.sh\n  2  mcp files · changed\n       runs: node\n" +
		"       -old\n       +new of files\n  3  mcp web · trusted\n  4  mcp huge · can't be trusted\n       too long\n/trust N or /trust all trusts them as they are shown here, /trust forget N ends it"
	for _, tt := range []struct{ args, want string }{
		{"1", "error look at the list first: /trust"},
		{"all", "error look at the list first: /trust"},
		{"", list},
		{"1", "set true hook Stop|change s1"},
		{"#1 2", "set true hook Stop|set true mcp files|change s1"},
		{"all", "set true hook Stop|set true mcp files|change s1"},
		{"4", "set true mcp huge|/trust failed: no"},
		{"forget 3", "set false mcp web|change s1"},
		{"forget", "error say which: a number of the list, or all"},
		{"forget all", `error "all" is not a number of the list (/trust shows 4), nor all`},
		{"5", `error "5" is not a number of the list (/trust shows 4), nor all`},
		{"1 x", `error "x" is not a number of the list (/trust shows 4), nor all`},
	} {
		told = nil
		if err := c.OnTrust(s, tt.args); err != nil {
			tell("error %v", err)
		}
		if got := strings.Join(told, "|"); got != tt.want {
			t.Errorf("/trust %s: %s\nwant %s", tt.args, got, tt.want)
		}
	}
	told, have = nil, nil
	if err := c.OnTrust(s, ""); err != nil || strings.Join(told, "|") != "the folder is trusted" {
		t.Errorf("where there are only settings: %q, %v", told, err)
	}
	told, have = nil, []TrustItem{{Kind: SettingsKind, Name: "buddy.toml", State: NotTrusted}}
	if err := c.OnTrust(s, ""); err != nil || strings.Join(told, "|") != "the folder is trusted" {
		t.Errorf("where only settings wait: %q, %v", told, err)
	}
	told, have[0].State = nil, Trusted
	if err := c.OnTrust(s, ""); err != nil || !strings.Contains(strings.Join(told, "|"), "settings buddy.toml · trusted") {
		t.Errorf("where only settings are trusted: %q, %v", told, err)
	}
	told, busy = nil, errors.New("task #1 runs")
	if err := c.OnTrust(s, "all"); !errors.Is(err, busy) || told != nil {
		t.Errorf("while a task runs: %q, %v", told, err)
	}
}
