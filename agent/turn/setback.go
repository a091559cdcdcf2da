package turn

import (
	"fmt"
	"strings"

	"buddy/texts"
	"buddy/tools"
)

// Limits in bytes for the description of the last failure in an approval dialog.
const (
	maxFailedCommand = 80
	maxFailedText    = 200
)

// noteSetback records how a call that ran failed, for the next approval of its tool. Secrets are already removed from
// the result.
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

// setback returns how the last call of a tool failed, "" if it did not.
func (x *Exchange) setback(tool string) string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.setbacks.last[tool]
}

// lastLine returns ": " and the last line of an output, which usually has the error.
func lastLine(output string) string {
	output = strings.TrimSpace(output)
	line := texts.OneLine(output[strings.LastIndexByte(output, '\n')+1:])
	if line == "" {
		return ""
	}
	return ": " + texts.ClipBytes(line, maxFailedText)
}

// onLine returns a text on one line, clipped for display.
func onLine(text string) string { return texts.ClipBytes(texts.OneLine(text), maxFailedText) }
