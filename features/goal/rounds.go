package goal

import (
	"regexp"
	"strings"

	"buddy/agent/model"
)

// maxSame is the number of identical rounds in a row after which a goal is paused.
const maxSame = 3

// rounds detects that the model repeats itself. A round lasts from one check of the goal to the next.
type rounds struct {
	calls strings.Builder // of this round
	last  string          // calls and check of the last round
	same  int             // number of identical rounds in a row
}

// maxCalls limits the recorded calls of a round, in bytes; a longer round never counts as identical.
const maxCalls = 64 << 10

// Called records the calls of a turn, from the last answer of a conversation.
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

// numbers matches the numbers in output, such as times, which vary between runs of a command.
var numbers = regexp.MustCompile(`[0-9]+`)

// Stuck ends a round with its check output, and reports whether maxSame rounds in a row had the same calls and output.
// The model's text is ignored.
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
