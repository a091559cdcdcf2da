package turn

import (
	"fmt"
	"strings"

	"buddy/texts"
	"buddy/tools"
)

// Bytes of what is said about a failure to the person who is asked about the next call.
const (
	maxFailedCommand = 80
	maxFailedText    = 200
)

// noteSetback keeps what went wrong with a call that ran, for the next approval of its tool. The
// result has no secrets any more.
func (x *Exchange) noteSetback(j *job, res tools.Result) {
	if !j.ran {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.setbacks.last[j.call.Name] = ""
	act := j.call.Planned
	switch {
	case act.Kind.IsCommand() && res.ExitCode != nil && *res.ExitCode != 0:
		x.setbacks.last[j.call.Name] = fmt.Sprintf("the last command failed: %s: exit %d%s", texts.ClipBytes(texts.OneLine(act.Command), maxFailedCommand), *res.ExitCode, lastLine(res.Tail))
	case act.Kind.IsCommand() && res.IsError:
		x.setbacks.last[j.call.Name] = fmt.Sprintf("the last command failed: %s: %s", texts.ClipBytes(texts.OneLine(act.Command), maxFailedCommand), onLine(tools.Why(res)))
	case res.IsError:
		x.setbacks.last[j.call.Name] = fmt.Sprintf("the last %s failed: %s", j.call.Name, onLine(tools.Why(res)))
	}
}

// setback returns what went wrong when a tool ran last in the exchange, "" if nothing did.
func (x *Exchange) setback(tool string) string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.setbacks.last[tool]
}

// lastLine returns the last line of an output, which mostly says what is wrong, after a colon.
func lastLine(output string) string {
	output = strings.TrimSpace(output)
	line := texts.OneLine(output[strings.LastIndexByte(output, '\n')+1:])
	if line == "" {
		return ""
	}
	return ": " + texts.ClipBytes(line, maxFailedText)
}

// onLine returns a text about a call for people, short and on one line.
func onLine(text string) string { return texts.ClipBytes(texts.OneLine(text), maxFailedText) }
