package confine

import (
	"slices"
	"strings"
	"testing"
)

func TestEnviron(t *testing.T) {
	first := []string{"PATH=/first:.::rel:/second", "HOME=/h"}
	now := []string{"PATH=/evil", "A=1", "TOKEN=hush", "LD_PRELOAD=/x.so", "BASH_ENV=/x", "BASH_FUNC_ls%%=() { evil; }", "TMUX=/s", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=a.b", "GIT_CONFIG_VALUE_0=c", "DBUS_SESSION_BUS_ADDRESS=x", "PAGER=less"}
	got := Environ(first, now, []string{"TOKEN"}, "/t")
	for _, want := range []string{"PATH=/first:/second", "A=1", "TMPDIR=/t", "PAGER=cat", "GIT_CONFIG_KEY_0=a.b", "GIT_CONFIG_KEY_1=safe.bareRepository", "GIT_CONFIG_VALUE_1=explicit"} {
		if !slices.Contains(got, want) {
			t.Errorf("no %s in %q", want, got)
		}
	}
	names := map[string]bool{}
	for _, kv := range got {
		name, _, _ := strings.Cut(kv, "=")
		if names[name] || strings.HasPrefix(name, "LD_") || strings.HasPrefix(name, "BASH_") || name == "TOKEN" || name == "TMUX" || strings.HasPrefix(name, "DBUS_") {
			t.Errorf("%s is there, or twice: %q", name, got)
		}
		names[name] = true
	}
	if got := Environ(nil, nil, nil, ""); !slices.Contains(got, "PATH=/usr/bin:/bin:/usr/sbin:/sbin") {
		t.Errorf("without a PATH: %q", got)
	}
}

// Variables with secrets reach no confined command, whatever their name; those that programs need do.
func TestEnvironHasNoSecrets(t *testing.T) {
	kept := []string{"HOME=/h", "LANG=C", "GOPATH=/go", "GIT_AUTHOR_NAME=ann", "EDITOR=vi", "MONKEY=1", "KEYBOARD=de", "A=https://example.org/x@y", "OLDPWD=/x", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=a.b", "GIT_CONFIG_VALUE_0=c"}
	hidden := []string{"GITHUB_TOKEN=x", "AWS_SECRET_ACCESS_KEY=x", "DB_PASSWORD=x", "mysql_pwd=x", "OPENAI_API_KEY=x", "KEY=x", "SENTRY_DSN=x", "X=https://ann:pw@example.org", "Y=sk-1", "Z=ghp_1", "BASIC_AUTH=x"}
	got := Environ(nil, append(slices.Clone(kept), hidden...), nil, "")
	for _, kv := range kept {
		if !slices.Contains(got, kv) && !strings.HasPrefix(kv, "GIT_CONFIG_COUNT") && !strings.HasPrefix(kv, "EDITOR") {
			t.Errorf("%s is missing", kv)
		}
	}
	got = append(got, Environ(nil, []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=http.extraheader", "GIT_CONFIG_VALUE_0=Authorization: basic found"}, nil, "")...)
	for _, kv := range got {
		if slices.Contains(hidden, kv) || strings.Contains(kv, "found") {
			t.Errorf("%s is there", kv)
		}
	}
}
