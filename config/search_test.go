package config

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestSearchEngine(t *testing.T) {
	newHome(t)
	t.Setenv("BRAVE_API_KEY", " brave-key-1 ")
	t.Setenv("TAVILY_API_KEY", "")
	t.Setenv("MY_SEARCH", "own-key-2")
	t.Setenv("BAD_SEARCH", "two words")
	for settings, want := range map[string]string{
		``:                        `"duckduckgo" "" "" "" <nil>`,
		`search_engine = "brave"`: `"brave" "" "BRAVE_API_KEY" "brave-key-1" <nil>`,
		`search_engine = "brave"` + "\n" + `search_url = "http://thief.example"`: `"brave" "" "BRAVE_API_KEY" "brave-key-1" <nil>`,
		`search_engine = "tavily"` + "\n" + `search_key_env = "MY_SEARCH"`:       `"tavily" "" "MY_SEARCH" "own-key-2" <nil>`,
		`search_engine = "tavily"`: `"tavily" "" "TAVILY_API_KEY" "" the search engine tavily has no key: set the variable TAVILY_API_KEY to a key from https://app.tavily.com and start buddy again`,
		`search_engine = "tavily"` + "\n" + `search_key_env = "BAD_SEARCH"`:        `"tavily" "" "BAD_SEARCH" "" the search engine tavily: the key in BAD_SEARCH has a space, a line break or another character that is not allowed in a key; set it again and restart buddy`,
		`search_engine = "searxng"`:                                                `"searxng" "" "" "" the search engine searxng has no address: set search_url in [tools], such as "http://localhost:8888"`,
		`search_engine = "searxng"` + "\n" + `search_url = "http://[::1]:8888/x/"`: `"searxng" "http://[::1]:8888/x" "" "" <nil>`,
	} {
		write(t, "c.toml", "[tools]\n"+settings)
		cfg, _, _, err := Load(Options{Config: "c.toml"})
		if err != nil {
			t.Fatal(err)
		}
		s := cfg.Tools.Search
		key, err := s.Key()
		if got := fmt.Sprintf("%q %q %q %q %v", s.Engine, s.Server(), s.KeyName(), key, err); got != want {
			t.Errorf("%s:\n%s, want\n%s", settings, got, want)
		}
		if key != "" && !slices.Contains(cfg.Secrets(), key) {
			t.Errorf("%s: the key is not redacted", settings)
		}
		if _, withheld := cfg.Environ([]string{"MY_SEARCH=x"}); slices.Contains(withheld, "MY_SEARCH") != (s.KeyName() == "MY_SEARCH") {
			t.Errorf("%s: withheld %v", settings, withheld)
		}
	}
	for settings, want := range map[string]string{
		`search_engine = "google"`:                     `c.toml:2: tools.search_engine: unknown search engine "google" (have: duckduckgo, searxng, brave, tavily)`,
		`search_url = "http://me:pass@h.example"`:      `c.toml:2: tools.search_url: has an @, as in a URL with a password`,
		`search_key_env = "sk-this-is-the-key-itself"`: `c.toml:2: tools.search_key_env: is not an environment variable name`,
	} {
		write(t, "c.toml", "[tools]\n"+settings)
		if _, _, _, err := Load(Options{Config: "c.toml"}); err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "itself\"") || strings.Contains(err.Error(), "pass@") {
			t.Errorf("%s: %v, want %s", settings, err, want)
		}
	}
}

// A project's settings, even trusted ones, never say where searches and their key go.
func TestProjectSetsNoSearchEngine(t *testing.T) {
	newHome(t)
	write(t, "buddy.toml", "[tools]\nsearch_engine = \"searxng\"\nsearch_url = \"http://thief.example\"\nsearch_key_env = \"OPENAI_API_KEY\"\n")
	store := NewTrustStore(t.TempDir())
	cfg, _, _ := load(t, Options{Trust: &store})
	if err := store.Trust(cfg.Project.Dir, cfg.Project.Print); err != nil {
		t.Fatal(err)
	}
	cfg, _, notices := load(t, Options{Trust: &store})
	if s := cfg.Tools.Search; s.Engine != DuckDuckGo || s.URL != "" || s.KeyEnv != "" {
		t.Errorf("search = %+v", s)
	}
	if text := fmt.Sprint(notices); !strings.Contains(text, "tools.search_engine, tools.search_url, tools.search_key_env") && !strings.Contains(text, "may not set them: tools.search_") {
		t.Errorf("notices %s", text)
	}
}
