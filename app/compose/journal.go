package compose

import (
	"errors"
	"fmt"
	"sync"

	"buddy/agent/event"
	"buddy/sessions"
)

// journal is a session file that is created with the first prompt; earlier events are held until then.
type journal struct {
	create func() (*sessions.Journal, error) // nil if the file exists already

	mu     sync.Mutex // guards the fields below
	file   *sessions.Journal
	held   []event.Envelope
	frozen bool
}

// freeze makes all later calls of Append block forever. They must not return an error, because it would end the running
// task.
func (j *journal) freeze() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.frozen = true
}

// damagedCode marks the notice about unreadable lines of the session file. The notice is not stored, because every
// start finds the lines again.
const damagedCode = "damaged"

// Append stores env, or keeps it in memory until the first prompt creates the file.
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

// Range calls f for the events after a number, from the file or, before it exists, from memory, until f returns false.
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

// resumed reports whether an earlier process created the session.
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

// Stored returns the session's file, nil before it exists.
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

// TrustFirst adds the next step to the error of an untrusted session.
func TrustFirst(id string, err error) error {
	if errors.Is(err, sessions.ErrUntrusted) {
		err = untrusted{fmt.Errorf("%w; to continue it: %s", err, trustCommand(id)), id}
	}
	return err
}

func trustCommand(id string) string { return "buddy sessions trust " + id }

// untrusted is the error of a session that nobody has trusted.
type untrusted struct {
	error
	id string
}

// NextStep returns how to trust and resume the session.
func (u untrusted) NextStep() string { return "run " + trustCommand(u.id) + ", then resume it again" }

// Unwrap returns the cause.
func (u untrusted) Unwrap() error { return u.error }
