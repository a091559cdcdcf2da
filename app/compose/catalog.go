package compose

import (
	"context"
	"errors"

	"buddy/app/slash"
)

// Fork copies this session up to the end of an exchange; 0 is the last that has ended.
func (s *Setup) Fork(exchange int) (string, error) {
	if s.Current() == "" {
		return "", errors.New("nothing of this session is saved yet; the first prompt does that")
	}
	id, _, err := s.Store.Fork(s.ID, exchange)
	return id, TrustFirst(s.ID, err)
}

// transcript returns what the model was told and said in a session.
func (s *Setup) transcript(id string) (string, error) {
	if id == s.ID && !s.Stored() {
		return "", errors.New("nothing was said yet: the first prompt begins the transcript")
	}
	return s.Store.Transcript(id)
}

// Catalog returns the choices that need no runtime. Logins end with ctx.
func (s *Setup) Catalog(ctx context.Context) slash.Catalog {
	return slash.Catalog{
		Saved:      slash.SavedIn(s.Store),
		Transcript: s.transcript,
	}
}
