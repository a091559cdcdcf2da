package compose

import "errors"

// Fork copies this session up to the end of an exchange; 0 is the last that has ended.
func (s *Setup) Fork(exchange int) (string, error) {
	if s.Current() == "" {
		return "", errors.New("nothing of this session is saved yet; the first prompt does that")
	}
	id, _, err := s.Store.Fork(s.ID, exchange)
	return id, TrustFirst(s.ID, err)
}

// Transcript returns all messages to and from the model in this session.
func (s *Setup) Transcript() (string, error) {
	if !s.Stored() {
		return "", errors.New("nothing to export yet: the transcript starts with the first prompt")
	}
	return s.Store.Transcript(s.ID)
}
