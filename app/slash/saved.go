package slash

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"buddy/agent/event"
	"buddy/sessions"
)

// Saved lists and changes the saved sessions of a project. Its methods read and write files, which may take long; any
// goroutine may call them. The zero Saved has no sessions.
type Saved struct{ stores []sessions.Store }

// SavedIn returns a Saved for the sessions in a store, and for sessions of the same project in other stores.
func SavedIn(store sessions.Store) Saved {
	return Saved{append([]sessions.Store{store}, store.Others()...)}
}

// of returns the store of a session, or the zero Store if no store has it.
func (s Saved) of(id string) sessions.Store {
	for _, store := range s.stores {
		if _, err := os.Lstat(store.File(id)); err == nil {
			return store
		}
	}
	return sessions.Store{}
}

// SavedSession describes a saved session.
type SavedSession struct {
	ID, Title          string
	Used               time.Time // last use
	Size               int64     // of its file, in bytes
	Cwd, Target, Model string    // at its start
	Exec               bool      // buddy exec started it, without a person
	Problem            string    // why it can't be opened, "" if it can
}

// Hit is an event of a saved session in which a text was found.
type Hit struct {
	Session SavedSession
	Event   event.Envelope
	Text    string // the line around the match
}

// Exchange describes an exchange of a saved session.
type Exchange struct {
	Number  int    // from 1
	Prompt  string // its first words, on one line
	Time    time.Time
	Outcome string // "" when it has not ended
}

func describe(e sessions.Entry) SavedSession {
	return SavedSession{ID: e.ID, Title: e.Title, Used: e.Used, Size: e.Size, Cwd: e.Header.Cwd, Target: e.Header.Target, Model: e.Header.Model, Exec: e.Header.By != "", Problem: e.Problem}
}

// List returns the sessions, the last used first.
func (s Saved) List() ([]SavedSession, error) {
	var all []SavedSession
	for _, store := range s.stores {
		entries, err := store.List()
		if err != nil {
			return all, err
		}
		all = slices.Grow(all, len(entries))
		for _, e := range entries {
			all = append(all, describe(e))
		}
	}
	if len(s.stores) > 1 {
		slices.SortStableFunc(all, func(a, b SavedSession) int { return b.Used.Compare(a.Used) })
	}
	return all, nil
}

// Search calls f for each event that contains text, as [sessions.Store.Search] does, until f returns false or ctx ends.
func (s Saved) Search(ctx context.Context, text string, f func(Hit) bool) error {
	more := true
	for _, store := range s.stores {
		err := store.Search(ctx, text, func(h sessions.Hit) bool {
			more = f(Hit{Session: describe(h.Entry), Event: h.Envelope, Text: h.Text})
			return more
		})
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// Head returns up to most events from the start of a session.
func (s Saved) Head(id string, most int) (events []event.Envelope, err error) {
	j, err := s.of(id).View(id)
	if err != nil {
		return nil, err
	}
	err = j.Range(0, func(env event.Envelope) bool {
		events = append(events, env)
		return len(events) < most
	})
	return events, errors.Join(err, j.Close())
}

// Exchanges returns the exchanges of a session, the oldest first.
func (s Saved) Exchanges(id string) ([]Exchange, error) {
	j, err := s.of(id).View(id)
	if err != nil {
		return nil, err
	}
	found, err := j.Exchanges()
	all := make([]Exchange, len(found))
	for i, x := range found {
		all[i] = Exchange{Number: x.Number, Prompt: x.Prompt, Time: time.UnixMilli(x.Time), Outcome: string(x.Outcome)}
	}
	return all, errors.Join(err, j.Close())
}

// Rename changes the title of a session.
func (s Saved) Rename(id, title string) error { return s.of(id).Rename(id, title) }

// Remove moves a session to the trash.
func (s Saved) Remove(id string) error {
	_, err := s.of(id).Remove(id)
	return err
}

// Fork copies a session up to the end of an exchange and returns the id of the copy.
func (s Saved) Fork(id string, exchange int) (fork string, err error) {
	fork, _, err = s.of(id).Fork(id, exchange)
	return fork, err
}

// Spot returns the place of a hit for text.
func (h Hit) Spot(text string) Spot {
	s := Spot{Seq: h.Event.Seq, Text: strings.TrimSpace(text)}
	switch p := h.Event.Payload.(type) {
	case event.ToolRequested:
		s.Call = p.CallID
	case event.ToolResult:
		s.Call = p.CallID
	}
	return s
}
