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

// PasteMax is how many bytes may be pasted at once.
const PasteMax = 1 << 20

// pasteStep is how many bytes one command of tmux takes.
const pasteStep = 16 << 10

// pasteBuffer is tmux's buffer through which text is pasted; it is gone afterwards.
const pasteBuffer = "buddy-paste"

// Paste gives text to what runs in a pane, marked as a paste if that program asked for it.
// Newlines become Enter. Like what is typed it is in no log and no error.
func (s *Session) Paste(ctx context.Context, pane, text string) error {
	if len(text) > PasteMax {
		return fmt.Errorf("%d bytes are too many to be pasted at once (at most %d)", len(text), PasteMax)
	}
	text = strings.ReplaceAll(text, "\x00", "")
	if text == "" {
		return nil
	}
	ctl, to, err := s.typable(ctx, pane)
	if err != nil {
		return err
	}
	s.pasting.Lock() // there is one buffer
	defer s.pasting.Unlock()
	for add := ""; text != ""; add = "-a " {
		n := min(len(text), pasteStep)
		if _, err := ctl.do(ctx, "set-buffer "+add+"-b "+pasteBuffer+" -- "+quote(text[:n])); err != nil {
			return fmt.Errorf("pane %s: pasting %d bytes failed", to.ID, len(text)) // tmux's words may hold them
		}
		text = text[n:]
	}
	if _, err := ctl.do(ctx, "paste-buffer -p -d -b "+pasteBuffer+" -t "+to.ID); err != nil {
		return fmt.Errorf("pane %s: pasting: %w", to.ID, err)
	}
	return nil
}

// typable finds a pane that takes what is typed.
func (s *Session) typable(ctx context.Context, pane string) (*control, Pane, error) {
	ctl, to, err := s.find(ctx, pane)
	if err != nil {
		return nil, to, err
	}
	if to.Dead {
		return nil, to, fmt.Errorf("pane %s: nothing runs in it any more", to.ID)
	}
	if to.mode { // somebody scrolled back: keys would go to that
		if _, err := ctl.do(ctx, "send-keys -X -t "+to.ID+" cancel"); err != nil {
			return nil, to, err
		}
	}
	return ctl, to, nil
}

func (s *Session) typeInto(ctx context.Context, pane string, p []byte) (Pane, *control, error) {
	if len(p) > TypeMax {
		return Pane{}, nil, fmt.Errorf("%d bytes are too many to be typed at once (at most %d)", len(p), TypeMax)
	}
	ctl, to, err := s.typable(ctx, pane)
	if err != nil {
		return to, nil, err
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
