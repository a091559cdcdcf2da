package commands

import (
	"testing"

	"buddy/app/slash"
)

// A hint says what does the same on the command line, and nothing of what only a person in a session can do.
func TestHintsOnTheCommandLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Needs your trust before it runs: hook Stop; see /trust, or run buddy trust":                                "Needs your trust before it runs: hook Stop; see buddy trust",
		"buddy.toml: these settings are ignored until you trust this folder (/trust, or run: buddy trust): [agent]": "buddy.toml: these settings are ignored until you trust this folder (run: buddy trust): [agent]",
		"log in: /login openai, or buddy login openai":                                                              "log in: buddy login openai",
		"Rate limited (429); /model chooses another model":                                                          "Rate limited (429); --model chooses another model",
		"choose another with /model, or set model in [models.m]":                                                    "choose another with --model, or set model in [models.m]",
		"the conversation is too long for the model: /compact makes it shorter, /session new starts another one":    "the conversation is too long for the model: buddy exec without --resume starts another one",
		"the hook x failed · /hooks":                                                                                "the hook x failed · buddy doctor",
		"no summary: refused · /compact tries again":                                                                "no summary: refused",
		"This command takes long. /timeout 5m sets one · /bg moves it to the background · /kill stops it":           "This command takes long",
		"left out: /tmp/model.md, /srv/context and /model.d/x: it has no text":                                      "left out: /tmp/model.md, /srv/context and /model.d/x: it has no text",
		"a workflow may help: /workflow review base=main":                                                           "a workflow may help: /workflow review base=main",
		"goal paused: the limit of turns · /goal resume continues it, /goal off ends it":                            "goal paused: the limit of turns",
		"the variable X is not set":                                                                                 "the variable X is not set",
	} {
		if got := slash.OnCommandLine(text); got != want {
			t.Errorf("%q becomes\n%q, want\n%q", text, got, want)
		}
	}
}
