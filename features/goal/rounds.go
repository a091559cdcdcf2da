package goal

import (
	"regexp"
	"strings"

	"buddy/agent/model"
)

// maxSame is after how many rounds in a row that did the same a goal is paused.
const maxSame = 3

// rounds counts rounds, from one check to the next, that did nothing new.
type rounds struct {
	calls strings.Builder // of this round
	last  string          // what the round before did
	same  int             // rounds in a row that did this
}

// maxCalls limits what is kept of the calls of a round, in bytes: a round with more does something.
const maxCalls = 64 << 10

// Called notes the calls that a turn made, in the last answer of a conversation.
func (k *keeper) Called(messages []model.Message) {
	k.mu.Lock()
	defer k.mu.Unlock()
	last := len(messages) - 1
	for last > 0 && messages[last].Role != model.Assistant {
		last--
	}
	for _, c := range messages[last].ToolCalls {
		if k.round.calls.Len() < maxCalls {
			k.round.calls.WriteString(c.Name + "\x00" + c.Arguments + "\x00")
		}
	}
}

// numbers differ from one run of a command to the next, such as times.
var numbers = regexp.MustCompile(`[0-9]+`)

// Stuck ends a round with what its check said, and reports whether maxSame rounds in a row made the same
// calls, or none, and found the same. What the model says does not count.
func (k *keeper) Stuck(found string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	r := &k.round
	did := r.calls.String() + "\x01" + numbers.ReplaceAllString(found, "#")
	long := r.calls.Len() >= maxCalls
	r.calls.Reset()
	if did != r.last || long {
		r.last, r.same = did, 0
	}
	r.same++
	return r.same >= maxSame
}
