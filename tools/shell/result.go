package shell

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"buddy/tmux"
	"buddy/tools"
)

// output holds what the model gets of a command: limited parts of its output streams, and what they do not show.
type output struct {
	stdout, stderr string
	remarks        []string
}

// finished returns the result of a command that has ended, with limit bytes of each output
// stream. more are further remarks.
func finished(res tmux.Result, err error, limit int, more ...string) tools.Result {
	why := ""
	switch {
	case res.Cancelled && err != nil: // the target was lost, and with it the exit code
		why = fmt.Sprintf("%s; how the command ended is not known: %v", cancelled, err)
	case res.Cancelled:
		why = fmt.Sprintf("%s; exit code %d", cancelled, res.ExitCode)
	case err != nil:
		why = tools.Problem(err.Error()).Content
	}
	var out output
	if out.take(res, limit); why == "" {
		out.remarks = append([]string{ended(res, out.stdout+out.stderr == "")}, out.remarks...)
	}
	r := tools.Streams(out.stdout, out.stderr, slices.Concat(out.remarks, remarks(res, out), more)...)
	r.Tail, r.Stdout = shown(res)
	r.ExitCode, r.Took = &res.ExitCode, res.Duration
	if p := paths(res); len(p) > 0 {
		r.Full = &tools.File{Path: p[0], Bytes: res.Stdout.Total + res.Stderr.Total}
	}
	if why != "" {
		r.Content, r.IsError = strings.TrimSpace(why+"\n"+r.Content), true
	}
	if err != nil {
		r.ExitCode = nil
	}
	return r
}

// ended says how a command ended, "" for one that was right and printed something.
func ended(res tmux.Result, silent bool) string {
	switch {
	case res.ExitCode == 0 && silent:
		return "exit code 0, no output"
	case res.ExitCode == 0:
		return ""
	}
	text := fmt.Sprintf("exit code %d, %.1f s", res.ExitCode, res.Duration.Seconds())
	if silent {
		text += ", no output"
	}
	return text
}

// shown returns the end of the output for the screen, and the part from stdout if both streams have text.
func shown(res tmux.Result) (tail string, stdout *string) {
	out, errs := string(ends(res.Stdout)), string(ends(res.Stderr))
	if res.Terminal { // terminal sequences only mattered while it ran
		out, _ = TerminalText(ends(res.Stdout))
	} else if out != "" && errs != "" {
		text := tools.End(out)
		stdout = &text
	}
	return tools.End(out + errs), stdout
}

// take fills in limit bytes of each output stream, and the paths of the overflow.
func (out *output) take(res tmux.Result, limit int) {
	var cutOut, cutErr, full bool
	if res.Terminal {
		out.stdout, cutOut, full = terminalEdges(res.Stdout, limit)
	} else {
		out.stdout, cutOut = edges(res.Stdout, limit)
	}
	out.stderr, cutErr = edges(res.Stderr, limit)
	if full {
		out.remarks = append(out.remarks, "what it drew on the full screen is left out; capture-pane shows that while it runs")
	}
	if cutOut || cutErr {
		out.remarks = append(out.remarks, "the whole output is in "+strings.Join(paths(res), ", "))
	}
}

// remarks says how a command ended where its output does not show that.
func remarks(res tmux.Result, out output) []string {
	all := []string{res.Fault}
	if res.Renewed {
		all = append(all, "the pane before was lost: this ran in a new one, with the same folder and variables; jobs of the old shell have ended")
	}
	switch {
	case res.Confined:
		all = append(all, explainConfined(out.stderr+"\n"+out.stdout, res.ExitCode))
	case res.Fenced && !res.Cancelled:
		all = append(all, explainFenced(out.stderr+"\n"+out.stdout, res.ExitCode))
	}
	if res.Signal != 0 {
		all = append(all, fmt.Sprintf("the shell was ended by signal %d", res.Signal))
	}
	return all
}

// paths returns the files of the output streams that are not empty.
func paths(res tmux.Result) []string {
	var p []string
	for _, c := range []tmux.Captured{res.Stdout, res.Stderr} {
		if c.Total > 0 {
			p = append(p, c.Path)
		}
	}
	return p
}

// ends returns the end of an output stream, as far as it is in memory.
func ends(c tmux.Captured) []byte {
	if int64(len(c.Head)+len(c.Tail)) == c.Total {
		return append(bytes.Clone(c.Head), c.Tail...)
	}
	return c.Tail
}

// edges returns the part of an output stream that the model gets: all of it, or its start and
// its end, limit bytes together, with a note on what is omitted.
func edges(c tmux.Captured, limit int) (text string, cut bool) {
	if c.Total <= int64(limit) && int64(len(c.Head)+len(c.Tail)) == c.Total {
		return valid(append(bytes.Clone(c.Head), c.Tail...)), false
	}
	whole := ends(c)
	first := c.Head[:min(len(c.Head), limit/2)]
	last := whole[max(0, len(whole)-limit/2):]
	between := c.Total - int64(len(first)+len(last))
	return fmt.Sprintf("%s\n%s %d bytes\n%s", valid(first), tools.Truncated, between, valid(last)), true
}

// terminalEdges does what edges does for terminal output, as a person would read it.
func terminalEdges(c tmux.Captured, limit int) (text string, cut, full bool) {
	if int64(len(c.Head)+len(c.Tail)) == c.Total {
		text, full = TerminalText(append(bytes.Clone(c.Head), c.Tail...))
		text, cut = cutMiddle(text, limit)
		return text, cut, full
	}
	first, full := TerminalText(c.Head)
	last, also := TerminalText(c.Tail)
	return fmt.Sprintf("%s\n%s\n%s", firstBytes(first, limit/2), tools.Truncated, lastBytes(last, limit/2)), true, full || also
}

// cutMiddle keeps the start and the end of a text of more than limit bytes.
func cutMiddle(text string, limit int) (string, bool) {
	if len(text) <= limit {
		return text, false
	}
	first, last := firstBytes(text, limit/2), lastBytes(text, limit/2)
	return fmt.Sprintf("%s\n%s %d bytes\n%s", first, tools.Truncated, len(text)-len(first)-len(last), last), true
}

// firstBytes and lastBytes return at most n bytes, without partial characters.
func firstBytes(s string, n int) string { return strings.ToValidUTF8(s[:min(n, len(s))], "") }
func lastBytes(s string, n int) string  { return strings.ToValidUTF8(s[max(0, len(s)-n):], "") }

// valid replaces what is not UTF-8: cut characters and binary output.
func valid(p []byte) string { return strings.ToValidUTF8(string(p), "\uFFFD") }
