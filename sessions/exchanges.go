package sessions

import (
	"buddy/agent/event"
	"buddy/agent/record"
)

// Exchange describes one prompt of a person up to its outcome, in the main conversation.
type Exchange struct {
	Number  int           `json:"number"` // from 1
	Prompt  string        `json:"prompt"` // first words, on one line
	Time    int64         `json:"ts_unix_ms"`
	Outcome event.Outcome `json:"outcome"` // "" while it has not ended

	end int64 // offset after its last line
}

// promptLine is the line of the prompt that started an exchange.
type promptLine struct {
	words  string // the first words of the prompt
	offset int64
}

// Exchanges returns the exchanges of the session, oldest first. It costs about as much as walking its lines.
func (j *Journal) Exchanges() (all []Exchange, err error) {
	var r record.Record
	prompts := make(map[uint64]promptLine) // by the number of the event
	end := j.head
	err = j.Lines(func(l Line) bool {
		end = l.at.to + 1
		switch event.Named(l.Type).(type) {
		case event.PromptSubmitted, event.TaskStarted, event.TaskFinished, event.Interrupted, event.SessionResumed, event.HistoryRewound, nil:
		default:
			return true
		}
		env, err := l.Envelope()
		if err != nil {
			return true
		}
		r.Apply(env)
		if p, ok := env.Payload.(event.PromptSubmitted); ok {
			prompts[env.Seq] = promptLine{shorten(p.Text), l.at.from}
		}
		return true
	})
	found := r.Exchanges()
	for i, x := range found {
		to := end
		if i+1 < len(found) {
			to = prompts[found[i+1].Seq].offset
		}
		all = append(all, Exchange{x.Number, prompts[x.Seq].words, x.Time, x.Outcome, to})
	}
	return all, err
}
