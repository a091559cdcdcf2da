package commands

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/app/apptest"
	"buddy/app/client"
	"buddy/app/compose"
	"buddy/app/slash"
	"buddy/config"
)

// A key is asked for where nobody sees it, kept, and nowhere else; one that was seen is not taken. Where nobody can be asked
// the command line is named.
func TestLogin(t *testing.T) {
	apptest.Home(t)
	t.Setenv("OPENAI_API_KEY", "")
	sent := ""
	s := &Session{
		Setup: &compose.Setup{Problem: "no model could be used"}, Now: &slash.Now{Info: event.SessionCreated{API: model.Demo, Profile: model.Demo}},
		Send: func(c event.Command) { sent += fmt.Sprintf("%+v", c) }, Say: func(string) {},
	}
	run := func(words ...string) string {
		a, err := Run(t.Context(), s, words...)
		if err != nil {
			return err.Error()
		}
		if a.Question != nil && a.Question.Choices[0].Secret {
			return "asks: " + strings.Join(a.Question.Lines, " ")
		}
		return a.String()
	}
	kept := func() string {
		data, _ := os.ReadFile(config.Auth().Path())
		return string(data)
	}
	for _, tt := range []struct{ line, secret, want string }{
		{"login", "", "Add an API key or log in:\n"},
		{"login nowhere", "", `unknown provider or profile "nowhere"`},
		{"login openai", "", "asks: Type or paste the key. buddy saves it in " + config.Auth().Path()},
		{"login openai sk-seen", "", "asks: Type the key here, where it stays hidden. The key in the prompt was not saved."},
		{"login openai", "sk-one\nsk-two", "a key must be a single line of text"},
	} {
		s.Now.Secret = tt.secret
		if got := run(slash.Words(tt.line)...); !strings.HasPrefix(got, tt.want) || kept() != "" || sent != "" {
			t.Errorf("%s: %q, want %q; sent %q, kept %q", tt.line, got, tt.want, sent, kept())
		}
	}
	s.Now.Secret = "sk-typed"
	if wire, err := json.Marshal(client.Run{Words: []string{"login", "openai"}, Now: s.Now}); err != nil || strings.Contains(string(wire), "sk-typed") {
		t.Errorf("%s, %v", wire, err)
	}
	if got := run("login", "openai"); !strings.HasPrefix(got, "openai: key saved in ") || !strings.Contains(kept(), `"sk-typed"`) || sent != "{Profile:openai Effort:}" {
		t.Errorf("%q, kept %q, sent %q", got, kept(), sent)
	}
	s.Setup.Problem = "" // the demo was asked for
	if got := run("login", "openai"); !strings.HasSuffix(got, " · /model openai switches to it") || sent != "{Profile:openai Effort:}" {
		t.Errorf("%q, sent %q", got, sent)
	}
	s.Setup.Problem = "no model could be used"
	server, said := apptest.NewLoginServer(t), ""
	s.Setup.Config.Models = []config.Profile{{Name: "work", Login: config.Login{Issuer: server.URL, ClientID: "buddy"}}}
	s.Say, sent = func(text string) { said = text }, ""
	if got := run("login", "work", arrived); !strings.HasPrefix(got, "work: not logged in to ") || sent != "" {
		t.Errorf("before a login: %q, sent %q", got, sent)
	}
	s.Setup.Config.Models = append(s.Setup.Config.Models, config.Profile{Name: "gpt", BaseURL: "https://api.openai.com/v1", Login: config.Login{Auth: config.ByLogin}})
	if got := run("login", "gpt"); !strings.HasPrefix(got, "buddy has no OAuth client for OpenAI: to use a key, remove auth") || !strings.HasSuffix(got, "login_scopes in [models.gpt]") || sent != "" {
		t.Errorf("%q, sent %q", got, sent)
	}
	a, err := Run(t.Context(), s, "login", "work")
	if err != nil || !strings.Contains(said, "enter the code ABCD-EFGH") || sent != "" {
		t.Fatalf("%+v, %v, said %q, sent %q", a, err, said, sent)
	}
	s.Now.Info = event.SessionCreated{API: "responses", Profile: "other"} // chosen meanwhile
	if got := run(a.Then...); got != "work: logged in to "+server.URL+" · /model work switches to it" || sent != "" {
		t.Errorf("%q, sent %q", got, sent)
	}
	s.Now.Info = event.SessionCreated{API: model.Demo, Profile: model.Demo}
	if got := run(a.Then...); got != "work: logged in to "+server.URL || sent != "{Profile:work Effort:}" {
		t.Errorf("%q, sent %q", got, sent)
	}
	s.Say = nil
	if got := run("login", "openai"); got != "a key can't be typed here, because there is no terminal; run: buddy login openai" {
		t.Errorf("%q", got)
	}
}
