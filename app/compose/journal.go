package compose

import (
	"errors"
	"fmt"
	"sync"

	"buddy/agent/event"
	"buddy/sessions"
)

// journal is a session file that appears with the first prompt: what
// comes before is kept until then.
type journal struct {
	create func() (*sessions.Journal, error) // nil when the file is there already

	mu     sync.Mutex // guards what follows
	file   *sessions.Journal
	held   []event.Envelope
	frozen bool
}

// freeze lets nothing more in, and whoever wants to record something stands still: an error
// would end what runs.
func (j *journal) freeze() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.frozen = true
}

// damagedCode marks the notice that lines of the session file can't be read. It is not stored
// there: every start finds it out anew.
const damagedCode = "damaged"

// Append stores env.
func (j *journal) Append(env event.Envelope) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.frozen {
		j.mu.Unlock()
		select {} // until the process ends
	}
	if n, ok := env.Payload.(event.Notice); ok && n.Code == damagedCode {
		return nil
	}
	if j.file != nil {
		return TrustFirst(j.file.Info().Header.ID, j.file.Append(env))
	}
	j.held = append(j.held, env)
	if _, ok := env.Payload.(event.PromptSubmitted); !ok {
		return nil
	}
	file, err := j.create()
	if err != nil {
		return err
	}
	j.file = file
	for _, h := range j.held {
		if err := file.Append(h); err != nil {
			return err
		}
	}
	j.held = nil
	return nil
}

// Range calls f for what is stored after a number.
func (j *journal) Range(after uint64, f func(event.Envelope) bool) error {
	j.mu.Lock()
	file, held := j.file, j.held
	j.mu.Unlock()
	if file != nil {
		return file.Range(after, f)
	}
	for _, env := range held {
		if env.Seq > after && !f(env) {
			break
		}
	}
	return nil
}

// resumed reports whether the session is of an earlier process.
func (j *journal) resumed() bool { return j.create == nil }

// ReadOnly returns why nothing can be stored, or nil.
func (j *journal) ReadOnly() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		return nil
	}
	return j.file.ReadOnly()
}

// Stored returns the session's file, nil before there is one.
func (j *journal) Stored() *sessions.Journal {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.file
}

func (j *journal) close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		return nil
	}
	return j.file.Close()
}

// TrustFirst adds the next step to an error about a session that came from elsewhere.
func TrustFirst(id string, err error) error {
	if errors.Is(err, sessions.ErrUntrusted) {
		err = fmt.Errorf("%w; to continue it: buddy sessions trust %s", err, id)
	}
	return err
}
