package shell

import (
	"strings"
	"testing"
	"time"
)

// examples are read-only uses of entries that need certain words.
var examples = map[string]string{
	"git config": "git config user.name", "git grep": "git grep foo_bar", "git config get": "git config get user.name", "git var": "git var GIT_EDITOR",
	"read": "while read x; do break; done < f", "ufw": "ufw status", "apt-mark": "apt-mark showhold", "launchctl": "launchctl list", "ag": "ag foo_bar",
	"ip": "ip addr", "docker inspect": "docker inspect web -f '{{.State.Status}}'", "podman inspect": "podman inspect web -f '{{.State.Status}}'",
	"nvm": "nvm ls", "getent": "getent passwd", "rustup show": "rustup show home", "systemctl show": "systemctl show x -p ActiveState",
	"bat": "bat x --paging=never", "batcat": "batcat x --paging=never", "service": "service x status",
}

// Every entry of the table is read-only in some use, with each of its flags, and is not with a
// flag that it does not have.
func TestEveryEntry(t *testing.T) {
	readOnly := func(s string) bool { return Analyse(s, Env{Cwd: "/w"}).ReadOnly }
	for name, s := range specs() {
		if strings.HasSuffix(name, " *") || name == "--version" {
			continue
		}
		use := ""
		for _, u := range []string{examples[name], name, name + " x", name + " x y", name + " 1"} {
			if u != "" && readOnly(u) {
				use = u
				break
			}
		}
		for f, n := range s.parsed {
			if use == "" && n == alone && readOnly(name+" "+f) {
				use = name + " " + f
			}
		}
		if use == "" {
			if name != "popd" {
				t.Errorf("%s: no use of it is read-only", name)
			}
			continue
		}
		if s.why == "" {
			t.Errorf("%s: nothing says why it only reads", name)
		}
		if s.raw {
			continue
		}
		for _, bad := range []string{"--no-such-flag", "--no-such-flag=x", "-\u0416", "-~", "--output=x", "--exec=x"} {
			if _, known := s.parsed[strings.TrimSuffix(bad, "=x")]; !known && readOnly(use+" "+bad) {
				t.Errorf("%s %s is read-only", use, bad)
			}
		}
		if readOnly(use+" > x") || readOnly(use+"; "+name+" --no-such-flag") {
			t.Errorf("%s with more is read-only", use)
		}
		for f, n := range s.parsed {
			if n == two || strings.ContainsAny(f, "#") {
				continue
			}
			abbreviated := f[:len(f)-1]
			if _, known := s.parsed[abbreviated]; strings.HasPrefix(f, "--") && len(abbreviated) > 3 && !known && readOnly(use+" "+abbreviated) {
				t.Errorf("%s %s: an abbreviation is read-only", use, abbreviated)
			}
		}
	}
}

// The literal core stays small enough for a person to review.
func TestCoreIsSmall(t *testing.T) {
	programs := make(map[string]bool)
	for name := range coreTools() {
		name, _, _ = strings.Cut(name, " ")
		programs[name] = true
	}
	if n := len(programs); n > 40 {
		t.Errorf("%d programs", n)
	}
}

// A program over a limit needs approval, and is judged soon (1 MB within 50 ms).
func TestBounded(t *testing.T) {
	for _, part := range []string{"$(", "${", "((", "$((", "`", "(", "{ ", "if ", "<<E\n", "${a[", "$[", "a=", "{a,", "{1..9}", "*", "?", "[", "\\", "\"", "a|", "ls;", "ls ", "~", "sed -n ", "x=1;", "env "} {
		for _, n := range []int{(maxText - 10) / len(part), 1 << 20 / len(part)} {
			start := time.Now()
			Analyse(strings.Repeat(part, n), Env{Cwd: "/w"})
			if took := time.Since(start); took > 10*time.Second { // far over what it takes on a busy machine
				t.Errorf("%q %d times took %v", part, n, took)
			}
		}
	}
	if Analyse(strings.Repeat("ls;", maxText), Env{}).ReadOnly {
		t.Error("a program that is too long is read-only")
	}
}
