package tmux

import (
	"context"
	"fmt"
	"regexp"
	"strings"
)

// TypeMax limits the bytes that [Session.Type] accepts.
const TypeMax = 16 << 10

// typeStep limits the bytes that one tmux command types.
const typeStep = 512

var keyName = regexp.MustCompile(`^(?:[CMS]-){0,3}(?:[!-~]|F(?:[1-9]|1[0-2])|Up|Down|Left|Right|Home|End|PageUp|PageDown|PgUp|PgDn|PPage|NPage|Enter|Escape|Tab|BTab|Space|BSpace|Delete|DC|Insert|IC)$`)

// CheckKey returns an error with a list of the known keys if name is not the name of a key.
func CheckKey(name string) error {
	if keyName.MatchString(name) {
		return nil
	}
	return fmt.Errorf("key %q is unknown (have: a character of ASCII, F1 to F12, Up, Down, Left, Right, Home, End, PageUp, PageDown, Enter, Escape, Tab, BTab, Space, BSpace, Delete, Insert; C-, M- and S- in front)", name)
}

// Keys types text literally, then presses keys, named as [CheckKey] allows.
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

// Type sends bytes to the program in a pane, as a terminal would. No log and no error contains the bytes, because they
// may be a password. If nothing runs in the pane, they are dropped.
func (s *Session) Type(ctx context.Context, pane string, p []byte) error {
	_, _, err := s.typeInto(ctx, pane, p)
	return err
}

// PasteMax limits the bytes that [Session.Paste] accepts.
const PasteMax = 1 << 20

// pasteStep limits the bytes that one tmux command adds to the paste buffer.
const pasteStep = 16 << 10

// pasteBuffer names the tmux buffer through which text is pasted; it is deleted afterwards.
const pasteBuffer = "buddy-paste"

// Paste sends text to the program in a pane, between the marks of a bracketed paste if the program asked for them.
// Newlines become Enter. As with Type, no log and no error contains the text.
func (s *Session) Paste(ctx context.Context, pane, text string) error {
	if len(text) > PasteMax {
		return fmt.Errorf("cannot paste %d bytes at once (at most %d)", len(text), PasteMax)
	}
	text = strings.ReplaceAll(text, "\x00", "")
	if text == "" {
		return nil
	}
	ctl, to, err := s.typable(ctx, pane)
	if err != nil {
		return err
	}
	s.pasting.Lock() // all pastes use one buffer
	defer s.pasting.Unlock()
	for add := ""; text != ""; add = "-a " {
		n := min(len(text), pasteStep)
		if _, err := ctl.do(ctx, "set-buffer "+add+"-b "+pasteBuffer+" -- "+quote(text[:n])); err != nil {
			return fmt.Errorf("pane %s: pasting %d bytes failed", to.ID, len(text)) // tmux's message may quote them
		}
		text = text[n:]
	}
	if _, err := ctl.do(ctx, "paste-buffer -p -d -b "+pasteBuffer+" -t "+to.ID); err != nil {
		return fmt.Errorf("pane %s: pasting: %w", to.ID, err)
	}
	return nil
}

// typable returns a pane that accepts input.
func (s *Session) typable(ctx context.Context, pane string) (*control, Pane, error) {
	ctl, to, err := s.find(ctx, pane)
	if err != nil {
		return nil, to, err
	}
	if to.Dead {
		return nil, to, fmt.Errorf("pane %s: nothing runs in it any more", to.ID)
	}
	if to.mode { // the pane is scrolled back: copy mode would intercept the keys
		if _, err := ctl.do(ctx, "send-keys -X -t "+to.ID+" cancel"); err != nil {
			return nil, to, err
		}
	}
	return ctl, to, nil
}

func (s *Session) typeInto(ctx context.Context, pane string, p []byte) (Pane, *control, error) {
	if len(p) > TypeMax {
		return Pane{}, nil, fmt.Errorf("cannot type %d bytes at once (at most %d)", len(p), TypeMax)
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
