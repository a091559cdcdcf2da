package turn

import (
	"errors"
	"fmt"
	"strings"

	"buddy/agent/conversation"
	"buddy/agent/event"
	"buddy/agent/model"
)

// errFiltered is returned when the provider stopped the answer because of the content of the answer or the request.
var errFiltered = errors.New("the provider's content filter stopped the answer")

// refusedContent reports whether a provider's content policy ended a request.
func refusedContent(err error) bool {
	e, ok := errors.AsType[*model.Error](err)
	return ok && e.Policy() || errors.Is(err, errFiltered)
}

// withhold excludes from later requests what a provider's policy refused, because it would be refused again: the new
// results of calls, or prompts that have no answer yet. It returns the error for the exchange, which ends: nothing is
// sent before the next prompt.
func withhold(l *Loop, x *Exchange, turn int, unread []string, err error) error {
	if len(unread) > 0 {
		text := l.model(x).Info().Model + " refused the last result: it won't be sent again"
		if n := len(unread); n > 1 {
			text = fmt.Sprintf("%s refused the last %d results: they won't be sent again", l.model(x).Info().Model, n)
		}
		conversation.Withhold(x.conv, x.task, turn, event.ContextWithheld{CallIDs: unread, Text: text})
	}
	if len(x.unsent) > 0 && strings.TrimSpace(x.response) == "" {
		takeBack(l, x, "the provider's content policy refused it")
		return err
	}
	if len(unread) == 0 {
		return fmt.Errorf("%w; it may also refuse later prompts: /rewind removes this one", err)
	}
	return err
}
