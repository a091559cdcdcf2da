package tmux

import (
	"context"
	"fmt"
	"regexp"
	"strings"
)

// TypeMax is how many bytes may be typed at once.
const TypeMax = 16 << 10

// typeStep is how many bytes one command of tmux types.
const typeStep = 512

var keyName = regexp.MustCompile(`^(?:[CMS]-){0,3}(?:[!-~]|F(?:[1-9]|1[0-2])|Up|Down|Left|Right|Home|End|PageUp|PageDown|PgUp|PgDn|PPage|NPage|Enter|Escape|Tab|BTab|Space|BSpace|Delete|DC|Insert|IC)$`)

// CheckKey says what is wrong with the name of a key; the error lists what is allowed.
func CheckKey(name string) error {
	if keyName.MatchString(name) {
		return nil
	}
	return fmt.Errorf("key %q is unknown (have: a character, F1 to F12, Up, Down, Left, Right, Home, End, PageUp, PageDown, Enter, Escape, Tab, BTab, Space, BSpace, Delete, Insert; C-, M- and S- in front)", name)
}

// Keys types text as it is, then presses keys, each named as [CheckKey] allows.
func (s *Session) Keys(ctx context.Context, pane, text string, keys []string) (Pane, error) {
	for _, k := range keys {
		if err := CheckKey(k); err != nil {
			return Pane{}, err
		}
	}
	p, ctl, err := s.typeInto(ctx, pane, []byte(strings.ReplaceAll(text, "\n", "\r")))
	if err != nil || len(keys) == 0 {
		return p, err
	}
	words := make([]string, len(keys))
	for i, k := range keys {
		words[i] = quote(k)
	}
	_, err = ctl.do(ctx, "send-keys -t "+p.ID+" -- "+strings.Join(words, " "))
	return p, err
}

// Type gives bytes to what runs in a pane, as a terminal would. They are not logged, nor
// part of an error: they may be a password. While nothing runs in it they are dropped.
func (s *Session) Type(ctx context.Context, pane string, p []byte) error {
	_, _, err := s.typeInto(ctx, pane, p)
	return err
}

func (s *Session) typeInto(ctx context.Context, pane string, p []byte) (Pane, *control, error) {
	if len(p) > TypeMax {
		return Pane{}, nil, fmt.Errorf("%d bytes are too many to be typed at once (at most %d)", len(p), TypeMax)
	}
	ctl, to, err := s.find(ctx, pane)
	if err != nil {
		return to, nil, err
	}
	if to.Dead {
		return to, nil, fmt.Errorf("pane %s: nothing runs in it any more", to.ID)
	}
	if to.mode { // somebody scrolled back: keys would go to that
		if _, err := ctl.do(ctx, "send-keys -X -t "+to.ID+" cancel"); err != nil {
			return to, nil, err
		}
	}
	for len(p) > 0 {
		n := min(len(p), typeStep)
		if _, err := ctl.do(ctx, fmt.Sprintf("send-keys -H -t %s % x", to.ID, p[:n])); err != nil {
			return to, nil, fmt.Errorf("pane %s: typing: %w", to.ID, err)
		}
		p = p[n:]
	}
	return to, ctl, nil
}
