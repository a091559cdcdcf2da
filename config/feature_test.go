package config

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// clock holds the values of a section that a feature owns.
type clock struct {
	Face    string
	Hands   int
	Strikes int
}

// A feature's section has its defaults, the person's values and their sources; a project's file may only lower limits.
func TestSectionOfAFeature(t *testing.T) {
	before, fills := slices.Clone(sections), owned
	t.Cleanup(func() { sections, owned = before, fills })
	section := Own("clock", "A clock.", clock{Face: "round", Hands: 2, Strikes: 10},
		Field[clock]{Name: "face", Short: "text", Doc: "Its form.", At: func(c *clock) any { return &c.Face }, Check: func(v string) error {
			if v == "none" {
				return errors.New("a clock has a face")
			}
			return nil
		}},
		Field[clock]{Name: "hands", Short: "1 to 3", Doc: "How many it has.", Most: 3, At: func(c *clock) any { return &c.Hands }},
		Field[clock]{Name: "strikes", Short: "0 or more", Doc: "How often it strikes; 0 means no limit.", Limit: true, At: func(c *clock) any { return &c.Strikes }},
	)
	h := newHome(t)
	write(t, h.user, "[clock]\nhands = 3\n")
	write(t, "buddy.toml", "[clock]\nface = \"square\"\nstrikes = 4\n")
	c, index, notices := load(t, Options{})
	if got, want := *section.In(&c), (clock{"round", 3, 4}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if len(notices) != 1 || !strings.Contains(notices[0], "clock.face") {
		t.Errorf("notices %q", notices)
	}
	if s, err := Lookup(c.Settings(index), "clock.strikes"); err != nil || s.Text() != "4" || !strings.HasPrefix(s.Source, "buddy.toml") {
		t.Errorf("%+v %v", s, err)
	}
	write(t, "buddy.toml", "[clock]\nstrikes = 0\n")
	if c, _, _ = load(t, Options{}); section.In(&c).Strikes != 10 {
		t.Errorf("a project's file took the limit away: %d", section.In(&c).Strikes)
	}
	other, _, _ := load(t, Options{})
	section.In(&other).Hands = 1
	if keys := Changed(&c, &other); !slices.Equal(keys, []string{"clock.hands"}) {
		t.Errorf("changed: %q", keys)
	}
	write(t, h.user, "[clock]\nface = \"none\"\n")
	if _, _, _, err := Load(Options{}); err == nil || !strings.Contains(err.Error(), "clock.face: a clock has a face") {
		t.Errorf("%v", err)
	}
	write(t, h.user, "[clock]\nhands = 4\n")
	if _, _, _, err := Load(Options{}); err == nil || !strings.Contains(err.Error(), "clock.hands: 4 is out of range (allowed: 1 to 3)") {
		t.Errorf("%v", err)
	}
}
