package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzLoad: any bytes, trusted or not, give a config or one printable line.
func FuzzLoad(f *testing.F) {
	for _, seed := range []string{
		"", twoProfiles, Template(), strings.ReplaceAll(Template(), "\n#", "\n"), "[agent]\nmodel = \"one\"\n", "agent.model=1",
		"a = [[1,{b=2}]]", "[[models]]", "models = {a={api_base_url=\"http://x\"}}", "[agent]\nmax_iterations = 0x1_0", "[agent]\nmax_cost = 1_0.5e-3", "\"\\u202e\"=1",
		"a=1979-05-27T07:32:00Z", "[hooks]\nrun = '''\nx\n'''", "\xef\xbb\xbf[agent]", "a = \"", "=", "[", "[]", "\r", "#\x00",
	} {
		f.Add([]byte(seed))
	}
	h := newHome(f)
	if err := os.MkdirAll(filepath.Dir(h.user), 0o700); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(h.user, data, 0o600); err != nil {
			t.Fatal(err)
		}
		os.Remove(h.project)
		user, userIndex, _, err := Load(Options{})
		if err != nil {
			wantError(t, err, h.user+":")
		} else {
			writtenAgain(t, h.user, user, userIndex)
		}
		os.Remove(h.user)
		if err := os.WriteFile(h.project, data, 0o600); err != nil {
			t.Fatal(err)
		}
		project, index, notices, perr := Load(Options{})
		if perr != nil {
			wantError(t, perr, "buddy.toml:")
			return
		}
		if project.Active != nil || len(project.Models) != 0 || project.Agent.SystemPrompt != "" || project.UI != defaults().UI ||
			project.Agent.MaxIterations < 1 || project.Agent.MaxIterations > 200 {
			t.Errorf("a project's file set %+v %v", project, index)
		}
		for _, n := range notices {
			if visible(n, 2000) != n {
				t.Errorf("notice %q", n)
			}
		}
		if err == nil && user.Active != nil && user.Active.BaseURL == "" {
			t.Errorf("active without an endpoint: %+v", user.Active)
		}
	})
}

// BenchmarkLoad measures the cost at the start: both files, with a typical size.
func BenchmarkLoad(b *testing.B) {
	h := newHome(b)
	write(b, h.user, Template()+twoProfiles+"[models.three]\napi_base_url = \"https://c.example/v1\"\napi_key_env = \"K3\"\n")
	write(b, h.project, "[agent]\nmax_iterations = 10\n")
	b.ReportAllocs()
	for b.Loop() {
		if _, _, _, err := Load(Options{Model: "two"}); err != nil {
			b.Fatal(err)
		}
	}
}
