package repl

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"

	"buddy/agent/event"
	"buddy/agent/record"
	"buddy/app/slash"
	"buddy/app/state"
	"buddy/texts"
	"buddy/views/dialog"
	"buddy/views/markup"
	"buddy/views/pattern"
	"buddy/views/words"
)

// past holds a whole session. It is read on demand, because plain mode does not keep the blocks of earlier processes in
// memory.
type past struct {
	state state.State
	out   map[string]string // by call id: the end of the call's output
	of    []int             // the exchange number of each block; 0 before the first
}

// readPast reads a session, which takes about a second for a long one.
func readPast(journal func(after uint64, f func(event.Envelope) bool) error) (*past, error) {
	all := past{out: make(map[string]string)}
	var r record.Record
	err := journal(0, func(env event.Envelope) bool {
		if p, ok := env.Payload.(event.ToolResult); ok && env.Branch == 0 {
			all.out[p.CallID] = p.Tail
		}
		r.Apply(env)
		all.state.Apply(env)
		all.of = all.of[:min(len(all.of), len(all.state.Blocks))] // a failed attempt removes its blocks
		for len(all.of) < len(all.state.Blocks) {
			all.of = append(all.of, len(r.Exchanges()))
		}
		return true
	})
	return &all, err
}

const (
	maxFoundBlocks = 10  // shown by /find
	maxHeading     = 500 // characters of a call's description
	foundContext   = 1   // lines before and after the first match
	foundWidth     = 160 // characters of a line
)

// find lists the matches of a text, the latest last.
func (a *past) find(text string) string {
	look := pattern.Finder(text)
	var hits []int
	for i, b := range a.state.Blocks {
		if look([]byte(heading(b))) >= 0 || look([]byte(a.text(b))) >= 0 {
			hits = append(hits, i)
		}
	}
	if len(hits) == 0 {
		return fmt.Sprintf("%q not found in this session (/session search searches all sessions of this folder)", text)
	}
	var out strings.Builder
	if n := len(hits) - maxFoundBlocks; n > 0 {
		fmt.Fprintf(&out, "%q is in %s before these; search for a longer text to find fewer\n", text, texts.Plural(n, "more place"))
		hits = hits[n:]
	}
	for _, i := range hits {
		b := a.state.Blocks[i]
		if a.of[i] > 0 {
			fmt.Fprintf(&out, "#%d ", a.of[i])
		}
		out.WriteString(heading(b) + excerpt(a.text(b), look) + "\n")
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// heading describes a block. The heading of a call describes its action.
func heading(b *state.Block) string {
	if b.Call != nil {
		return markup.Shorten(wordsOf(b.Call).Line(), maxHeading)
	}
	return map[state.Kind]string{
		state.UserBlock: "prompt", state.AssistantBlock: "answer", state.ReasoningBlock: "reasoning", state.SkillBlock: "skill",
		state.NoticeBlock: "notice", state.WarningBlock: "warning", state.ErrorBlock: "error", state.RetryBlock: "retry", state.StoppedBlock: "stopped", state.WorkflowBlock: "workflow",
	}[b.Kind]
}

// text returns the searchable text of a block. For a call, that is its result.
func (a *past) text(b *state.Block) string {
	if b.Call == nil {
		return string(b.Text)
	}
	return cmp.Or(a.out[b.Call.ID], b.Call.Result)
}

func wordsOf(c *state.Call) words.Call {
	return words.Call{Name: c.Name, Arguments: c.Arguments, Action: c.Action}
}

// excerpt returns the first match in a text with the lines around it, and the number of further matching lines.
func excerpt(text string, look func([]byte) int) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	first, more := -1, 0
	for i, l := range lines {
		switch at := look([]byte(l)); {
		case at < 0:
		case first < 0:
			first = i
			lines[i] = around(l, at)
		default:
			more++
		}
	}
	if first < 0 { // the match is in the heading
		return ""
	}
	var out strings.Builder
	if len(lines) > 1 {
		fmt.Fprintf(&out, ", line %d of %d", first+1, len(lines))
	}
	if more > 0 {
		fmt.Fprintf(&out, ", and in %s more", texts.Plural(more, "line"))
	}
	for i := max(first-foundContext, 0); i <= min(first+foundContext, len(lines)-1); i++ {
		out.WriteString("\n    " + texts.Clip(lines[i], foundWidth))
	}
	return out.String()
}

// around cuts off the start of a line if the match at at is far from the start.
func around(line string, at int) string {
	before := []rune(strings.ToValidUTF8(line[:at], ""))
	if cut := len(before) - foundWidth/2; cut > 0 {
		return "…" + string(before[cut:]) + line[at:]
	}
	return line
}

const (
	maxShown      = 200 // printed lines of a command
	maxShownBytes = 64 << 10
)

// tail returns the end of a document of any size, and whether it was cut.
func tail(d dialog.Document) (text string, cut bool, err error) {
	from := max(d.Size-maxShownBytes, 0)
	read, err := io.ReadAll(io.NewSectionReader(d.Text, from, d.Size-from))
	if err != nil {
		return "", false, err
	}
	lines := strings.Split(strings.TrimRight(string(read), "\n"), "\n")
	if cut := len(lines) - maxShown; cut > 0 {
		for _, l := range lines[:cut] {
			from += int64(len(l)) + 1
		}
		lines = lines[cut:]
	}
	text = strings.Join(lines, "\n")
	if from > 0 {
		text = fmt.Sprintf("… %d KB above\n%s", (from+1023)>>10, text)
	}
	return text, from > 0, nil
}

// wholeFiles names the files with the full output of a call.
func wholeFiles(c *state.Call) string {
	text := ""
	for _, f := range slash.OutputFiles(c) {
		if info, err := os.Stat(f.Path); err == nil && info.Size() > 0 {
			text += "\nwhole output: " + f.Path
		}
	}
	return text
}
