package ui

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// The terminal is asked after the first frame; without an answer within 200 ms the theme is dark.
func TestThemeFollowsTheBackground(t *testing.T) {
	for name, c := range map[string]struct {
		wait   time.Duration
		answer string
		want   string
	}{
		"light":  {0, "rgb:ffff/ffff/e000", "light"},
		"dark":   {0, "rgb:1e1e/1e1e/1e1e", "dark"},
		"late":   {300 * time.Millisecond, "rgb:ffff/ffff/ffff", "dark"},
		"none":   {0, "", "dark"},
		"broken": {0, "rgb:zz/zz/zz", "dark"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := open(t, 120, 32)
				x.Type("/theme auto\n")
				if asked := x.Strings(); !slices.Contains(asked, "11;?") {
					t.Fatalf("the terminal was asked %q", asked)
				}
				time.Sleep(c.wait)
				if c.answer != "" {
					x.Terminal.Type("\x1b]11;" + c.answer + "\x1b\\")
				}
				x.Want(" > Ask anything") // the terminal's answer was not typed into the prompt
				x.unwanted("rgb")
				if got := x.u.deps.Theme.Name; got != c.want {
					t.Errorf("theme %s, want %s", got, c.want)
				}
				x.Type("/theme\n")
				x.Want("▸*auto")
				if got := x.u.deps.Theme.Name; got != c.want {
					t.Errorf("theme %s once the list is open, want %s", got, c.want)
				}
			})
		})
	}
}

// A chosen theme is not replaced by a later answer of the terminal.
func TestChosenThemeStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.Type("/theme auto\n")
		x.Type("/theme solarized\n")
		x.Terminal.Type("\x1b]11;rgb:ff/ff/ff\x1b\\")
		x.Settle()
		if got := x.u.deps.Theme.Name; got != "solarized" {
			t.Errorf("theme %s", got)
		}
		if _, style, _ := x.Cell(5, 10); !strings.Contains(style, "2;0;43;54") {
			t.Errorf("an empty cell has the style %q, not solarized's background", style)
		}
	})
}
