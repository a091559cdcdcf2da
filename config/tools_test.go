package config

import (
	"slices"
	"strings"
	"testing"

	"buddy/agent/settings"
)

func TestEnviron(t *testing.T) {
	h := newHome(t)
	write(t, h.user, `[tools]
env_allow = ["GITHUB_TOKEN", "CI_*"]
env_deny = ["INTERNAL_*", "CI_SECRET"]
[models.work]
api_base_url = "https://example.com/v1"
api_key_env = "WORK_LOGIN"
`)
	write(t, h.project, "[tools]\nenv_allow = [\"NPM_TOKEN\"]\nenv_deny = [\"TEAM_ID\"]\n")
	cfg, index, notices := load(t, Options{})
	if want := "buddy.toml: these settings are ignored, because a project's file may not set them: tools.env_allow"; len(notices) != 1 || notices[0] != want {
		t.Errorf("notices %q, want %q", notices, want)
	}
	if index["tools.env_allow"] != h.user+":2" || index["tools.env_deny"] != "buddy.toml:3" {
		t.Errorf("index %v", index)
	}
	secret := []string{
		"OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID", "AWS_SESSION_TOKEN", "GH_TOKEN", "NPM_TOKEN", "DB_PASSWORD", "PGPASSWORD",
		"MYSQL_PWD", "SECRET_KEY_BASE", "STRIPE_SECRET", "TOKEN", "github_token", "DOCKER_AUTH", "AZURE_CREDENTIALS", "GITLAB_PAT", "BUDDY_API_KEY",
		"SSH_KEY", "GPG_PASSPHRASE", "WORK_LOGIN", "INTERNAL_URL", "CI_SECRET", "TEAM_ID",
	}
	open := []string{
		"PATH", "HOME", "PWD", "OLDPWD", "LANG", "SSH_AUTH_SOCK", "AWS_PROFILE", "AWS_REGION", "GIT_ASKPASS", "SSH_ASKPASS", "GITHUB_TOKEN", "CI_JOB_TOKEN",
		"PASSWORD_STORE_DIR", "GOOGLE_APPLICATION_CREDENTIALS", "TOKEN_FILE", "AWS_WEB_IDENTITY_TOKEN_FILE", "KEYTIMEOUT", "MONKEY", "COMPASS", "DATABASE_URL", "XAUTHORITY",
	}
	var env []string
	for _, name := range slices.Concat(secret, open) {
		env = append(env, name+"=value=1")
	}
	passed, withheld := cfg.Environ(append(env, "=odd", "TOKEN=twice"))
	for _, name := range open {
		if !slices.Contains(passed, name+"=value=1") {
			t.Errorf("%s is withheld", name)
		}
	}
	if want := slices.Sorted(slices.Values(secret)); !slices.Equal(withheld, want) {
		t.Errorf("withheld %q, want %q", withheld, want)
	}
	if len(passed) != len(open)+1 || passed[len(open)] != "=odd" {
		t.Errorf("passed %q", passed)
	}
}

// Budgets of tools are read from the person's own files.
func TestBudgetsOfTools(t *testing.T) {
	h := newHome(t)
	write(t, h.user, "[tools]\nbudgets = [\"fetch_url = 20000\", \"*=100000\"]\n")
	write(t, h.project, "[tools]\nbudgets = [\"grep=1\"]\n")
	store := NewTrustStore(t.TempDir())
	cfg, _, _ := load(t, Options{Trust: &store})
	if err := store.Trust(cfg.Project.Dir, cfg.Project.Print); err != nil {
		t.Fatal(err)
	}
	if cfg, _, _ = load(t, Options{Trust: &store}); !cfg.Project.Trusted {
		t.Fatal("the project is not trusted")
	}
	if got := cfg.Tools.Tokens(); len(got) != 2 || got["fetch_url"] != 20_000 || got["*"] != 100_000 {
		t.Errorf("budgets %v", got)
	}
	if none := (settings.Calls{}).Tokens(); none != nil {
		t.Errorf("without settings %v", none)
	}
	for _, wrong := range []string{"grep", "grep=", "=5", "grep=0", "grep=-1", "grep=x", "grep=1.5", "grep=99999999999"} {
		write(t, "c.toml", "[tools]\nbudgets = [\""+wrong+"\"]\n")
		if _, _, _, err := Load(Options{Config: "c.toml"}); err == nil || !strings.Contains(err.Error(), `c.toml:2: tools.budgets: entry "`+wrong+`" is not NAME=TOKENS`) {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}

func TestEnvironErrors(t *testing.T) {
	newHome(t)
	for text, want := range map[string]string{
		"[tools]\nenv_allow = \"A\"":          `c.toml:2: tools.env_allow: must be an array of strings, not a string`,
		"[tools]\nenv_allow = [\"A\", 1]":     `c.toml:2: tools.env_allow: must be an array of strings only`,
		"[tools]\nenv_deny = [\"A-B\"]":       "c.toml:2: tools.env_deny: an entry is not an environment variable name (allowed: letters, digits, _ and *)",
		"[tools]\nenv_deny = [\"sk-k=1\"]":    "c.toml:2: tools.env_deny: an entry is not an environment variable name (allowed: letters, digits, _ and *)",
		"[tools]\nenv_allow = [\"[a\"]":       "c.toml:2: tools.env_allow: an entry is not an environment variable name (allowed: letters, digits, _ and *)",
		"[tools]\nunattended_timeout = 0":     "c.toml:2: tools.unattended_timeout:",
		"[tools]\nunattended_timeout = 86401": "c.toml:2: tools.unattended_timeout:",
		"[tools]\nunattended_timeout = \"x\"": "c.toml:2: tools.unattended_timeout:",
		"[tools]\nenv_allow = []\nx = true":   "c.toml:3: tools.x: unknown key (have: off, env_allow, env_deny, timeout, wait_for_answer, unattended_timeout, page, shell_output, screen_output, whole_output, search_results, search_engine, 4 more)",
	} {
		write(t, "c.toml", text)
		if _, _, _, err := Load(Options{Config: "c.toml"}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
