package markup

import (
	"strings"
	"testing"

	"buddy/themes"
)

// shownLink renders an answer and returns the visible text and the target of its first link.
func shownLink(src string, files func(string) bool) (shown, opens string) {
	m := NewMarkdown(200)
	m.Files = files
	m.Finish([]byte(src))
	for _, run := range m.Text.Runs {
		if run.Style.Link > 0 {
			return string(m.Text.Bytes), m.Text.Links[run.Style.Link-1]
		}
	}
	return string(m.Text.Bytes), ""
}

// A link's text that could be mistaken for another address is followed by the full real one, any other text by a short
// one. Each of these deceptive texts is a working link.
func TestLinksThatLie(t *testing.T) {
	for _, text := range []string{
		"good.com", "GOOD.COM", "www.good.com", "https://good.com", "http://evil.com", "ftp://evil.com/x", "https://good.com/login", "see https://good.com now",
		"https://evil.com.good.com", "evil.com/other", "https://evil.com/x/y", "evil.com:8443", "https://evil.com@good.com", "me@good.com", "127.0.0.1", "localhost", "good:8443",
		"g\u043e\u043ed.com", "good\u3002com", "good\uff0ecom", "good\u2024com", "good\u200b.com", "https:\u2215\u2215good", "https\uff1a//good", "\uff47\uff4f\uff4f\uff44\uff0ecom",
		"good&#46;com", "**good**.com", "`good.com`", "(good.com)", "\"https://good.com\"", "good.com.", "xn--80ak6aa92e.com", "\u0430\u0440\u0440\u04cf\u0435.com",
	} {
		const target = "https://evil.com/x"
		shown, opens := shownLink("["+text+"]("+target+")", nil)
		if opens != target {
			t.Errorf("%s is no link, so it can't lie", text)
		}
		if !strings.HasSuffix(shown, " ("+target+")") {
			t.Errorf("%s shows as %q", text, shown)
		}
	}
	long := "go.dev/" + strings.Repeat("x", 80)
	for _, c := range []struct{ text, target, after string }{
		{"docs", "https://evil.com/x", " (evil.com/x)"},
		{"docs", "http://evil.com/", " (http://evil.com)"},
		{"version 1.2", "https://go.dev/x", " (go.dev/x)"},
		{"docs", "https://" + long, " (" + long[:71] + "…)"},
		{"go.dev", "https://go.dev/blog", ""},
		{"https://go.dev/blog/", "https://go.dev/blog", ""},
		{"go.dev/blog", "https://go.dev/blog", ""},
		{"Go.Dev", "https://go.dev", ""},
		{"see https://go.dev/blog.", "https://go.dev/blog", ""},
		{"localhost:8080", "http://localhost:8080/x", ""},
	} {
		shown, opens := shownLink("["+c.text+"]("+c.target+")", nil)
		if shown != c.text+c.after || opens != c.target {
			t.Errorf("%s to %s shows as %q and opens %q", c.text, c.target, shown, opens)
		}
	}
}

// Addresses that do more than show a page, or hide their host, are never links; their neighbours are.
func TestWhatIsNoLink(t *testing.T) {
	for _, c := range []struct{ hostile, harmless string }{
		{"javascript:alert(1)", "https://x.org/javascript:alert(1)"},
		{"JavaScript:alert(1)", "https://x.org"},
		{"data:text/html,x", "http://x.org/data"},
		{"vbscript:x", "https://x.org"},
		{"ssh://x.org", "https://x.org"},
		{"mailto:a@x.org", "https://x.org/a"},
		{"x-man-page://ls", "https://x.org/ls"},
		{"https://good.com@evil.com/", "https://evil.com/good.com@"},
		{"https://good.com:x@evil.com/", "https://evil.com/"},
		{"https://good.com%2f@evil.com/", "https://evil.com/"},
		{"https://", "https://x"},
		{"https://:80/", "https://x:80/"},
		{"https:evil.com", "https://evil.com"},
		{"//evil.com/x", "https://evil.com/x"},
		{"https://g\u043e\u043ed.com/", "https://good.com/"},
		{"https://x.org/\x1b]52;c;x", "https://x.org/52"},
		{"https://x.org/\u202e", "https://x.org/"},
	} {
		shown, opens := shownLink("[docs](<"+c.hostile+">)", func(string) bool { return true })
		if opens != "" || !strings.HasPrefix(shown, "docs") {
			t.Errorf("%q opens %q, shows as %q", c.hostile, opens, shown)
		}
		if c.hostile != "https://x.org/\x1b]52;c;x" && !strings.Contains(shown, "(") {
			t.Errorf("%q shows as %q, without where it leads", c.hostile, shown)
		}
		if _, opens := shownLink("[docs](<"+c.harmless+">)", nil); opens != c.harmless {
			t.Errorf("%q opens %q", c.harmless, opens)
		}
	}
	if shown, opens := shownLink("<https://good.com@evil.com/>", nil); opens != "" || shown != "https://good.com@evil.com/ (links to evil.com)" {
		t.Errorf("an address with a user's name shows as %q and opens %q", shown, opens)
	}
	m := markdown("[docs](javascript:x)", 80)
	if got := describe(m); got != "\"docs\"\n\" (javascript:x)\"muted\n" {
		t.Errorf("it looks like a link: %s", got)
	}
}

// A file is a link only if Files allows it, and only with the absolute path of this machine.
func TestFileLinks(t *testing.T) {
	inside := func(path string) bool { return strings.HasPrefix(path, "/src/shop/") }
	for dest, want := range map[string]bool{
		"file:///src/shop/a.go": true, "file://localhost/src/shop/a.go": true, "file:///src/shop/a%20b": true,
		"file:///etc/passwd": false, "file://other/src/shop/a.go": false, "file:src/shop/a.go": false, "file:///src/%2e%2e/etc/passwd": false, "/src/shop/a.go": false,
	} {
		if _, opens := shownLink("[a](<"+dest+">)", inside); (opens != "") != want {
			t.Errorf("%s opens %q", dest, opens)
		}
		if shown, opens := shownLink("[a](<"+dest+">)", nil); opens != "" || shown != "a ("+dest+")" {
			t.Errorf("nobody says that it may be: %s opens %q, shows as %q", dest, opens, shown)
		}
	}
	if shown, opens := shownLink("| a |\n|---|\n| [b.go](file:///src/shop/c.go) |\n", inside); opens == "" || !strings.Contains(shown, "b.go (file:///src/shop/c.go)") {
		t.Errorf("in a table: %q, opens %q", shown, opens)
	}
}

// The terminal gets only web addresses that start with their host, and a link's text that names another host is
// followed by the real address.
func FuzzLinks(f *testing.F) {
	f.Add("good.com", "https://evil.com")
	f.Add("a", "https://good.com@evil.com/")
	f.Add("", "javascript:x")
	f.Fuzz(func(t *testing.T, text, dest string) {
		m := NewMarkdown(80)
		m.Finish([]byte("[" + text + "](<" + dest + ">) <" + dest + "> ![" + text + "](" + dest + ")\n"))
		check(t, &m.Text)
		for _, l := range m.Text.Links {
			host, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(strings.ToLower(l), "https://"), "http://"), "/")
			if !strings.HasPrefix(strings.ToLower(l), "http") || strings.ContainsAny(strings.TrimRight(host, "?#"), "@ \\") && !strings.ContainsAny(host, "?#") {
				t.Errorf("%q is a link", l)
			}
		}
		from := int32(0)
		for _, run := range m.Text.Runs {
			part := string(m.Text.Bytes[from:run.End])
			from = run.End
			if n := run.Style.Link; n > 0 && strings.HasPrefix(part, "https://good.com") && !strings.HasPrefix(m.Text.Links[n-1], "https://good.com") && run.Style.Role == themes.Link {
				if !strings.Contains(string(m.Text.Bytes[run.End:]), "(") {
					t.Errorf("%q leads to %q and does not say so: %q", part, m.Text.Links[n-1], m.Text.Bytes)
				}
			}
		}
	})
}
