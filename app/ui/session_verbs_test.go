package ui

import (
	"errors"
	"testing"
	"testing/synctest"

	"buddy/agent/event"
	"buddy/app/slash"
)

func TestSessionVerbs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 100, 30)
		fork := func(n int) (string, error) {
			if n == 9 {
				return "", errors.New("exchange 9: the session has 2")
			}
			return "7f3a-2222", nil
		}
		x.u.deps.Catalog.Search = func(text string) (string, error) { return "found " + text, nil }
		x.u.deps.Catalog.Fork = fork
		for _, tt := range []struct {
			line    string
			command event.Command
			notice  string
			screen  string
		}{
			{"/session list", nil, "2 sessions", ""},
			{"/session LIST", nil, "2 sessions", ""},
			{"/session rename nginx  fails", event.Rename{Title: "nginx  fails"}, "this session is now called: nginx  fails", ""},
			{"/session rename", event.Rename{}, "this session has the title of its first prompt again", ""},
			{"/session search needle here", nil, "found needle here", ""},
			{"/session search", nil, "", "say what for"},
			{"/session fork x", nil, "", `"x" is not the number of an exchange`},
			{"/session fork 9", nil, "", "exchange 9: the session has 2"},
		} {
			x.noticed = ""
			x.Type(tt.line + "\n")
			x.Settle()
			if x.noticed != tt.notice {
				t.Errorf("%s: said %q, want %q", tt.line, x.noticed, tt.notice)
			}
			if tt.command != nil {
				x.took(tt.command)
			} else {
				x.took()
			}
			if tt.screen != "" {
				x.Want(tt.screen)
			}
		}
		x.tell(event.TaskStarted{ID: 1, Kind: event.MainTask, Title: "work"})
		x.Type("/session fork #1\n")
		x.Settle()
		if want := (slash.Next{Again: true, Resume: "7f3a-2222", Detach: true}); x.left != want { // what runs goes on
			t.Errorf("left for %+v, want %+v", x.left, want)
		}
	})
}
