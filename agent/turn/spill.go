package turn

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"buddy/agent/action"
	"buddy/agent/compact"
	"buddy/agent/event"
	"buddy/agent/inject"
	"buddy/tools"
)

// Limits of results in bytes. The excess goes to a file.
const (
	spillResult = 50_000  // for one result
	spillTurn   = 200_000 // for all results of one answer
	spillLeast  = 4_000   // minimum kept of a result that is shortened because of others
	spillRoom   = 5_000   // for the text around a page of a file; pages are never cut
)

// given is a result of the current turn.
type given struct {
	job   *job
	whole string // before injections were marked and notes added
	sent  int    // bytes that the model reads
	full  *action.FullOutput
}

// spill writes a result that is too long to a file of the session, and keeps only the beginning, the end and the path
// of the file. The event and the history store this shortened text, so the cached prefix never changes. If the file
// can't be written, the rest of the result is lost, and the text says so.
func (b *batch) spill(j *job, res *tools.Result) {
	most := max(spillResult, b.loop.page()+spillRoom)
	if len(res.Content) <= most {
		return
	}
	text, full := j.shortened(res.Content, res.Full, spillResult)
	if full != nil {
		res.Full = full
		b.publish(event.ResultSpilled{CallID: j.call.ID, Path: full.Path, Bytes: full.Bytes})
	}
	res.Content, res.Aside = text, text[strings.LastIndexByte(text, '\n'):]
}

// shortened returns the beginning and the end of a result, about limit bytes, and the file with the whole result; nil
// if it could not be saved.
func (j *job) shortened(whole string, full *action.FullOutput, limit int) (string, *action.FullOutput) {
	if full == nil {
		path, err := j.saveResult(whole)
		if err != nil {
			return compact.Clip(whole, limit) + "\n[the rest is lost, because it could not be saved: " + err.Error() + "]", nil
		}
		full = &action.FullOutput{Path: path, Bytes: int64(len(whole))}
	}
	return compact.Clip(whole, limit) + fmt.Sprintf("\n[the whole result (%d bytes) is in %s]", full.Bytes, full.Path), full
}

// capResults shortens the largest results of an answer until together they have at most spillTurn bytes. It runs
// after all results have arrived, so a small result is never cut because it came late.
func (l *Loop) capResults(x *Exchange, turn int) {
	all := take(x, &x.results.given)
	total := 0
	for _, g := range all {
		total += g.sent
	}
	slices.SortStableFunc(all, func(a, b given) int { return b.sent - a.sent })
	least := min(spillLeast, spillTurn/2/max(1, len(all)))
	for _, g := range all {
		if total <= spillTurn || g.sent <= least {
			return
		}
		const note = 300 // bytes for the note about the file
		text, full := g.job.shortened(g.whole, g.full, max(0, least-note))
		if len(text) >= g.sent {
			continue
		}
		text = inject.Defuse(text, inject.Scan(text))
		total += len(text) - g.sent
		e := event.ResultSpilled{CallID: g.job.call.ID, Result: text}
		if full != nil {
			e.Path, e.Bytes = full.Path, full.Bytes
		}
		x.conv.Shorten(x.task, turn, e)
	}
}

// saveResult writes a result to the call's folder.
func (j *job) saveResult(text string) (string, error) {
	if j.call.Dir == "" {
		return "", fmt.Errorf("the session keeps no files")
	}
	if err := os.MkdirAll(j.call.Dir, 0o700); err != nil {
		return "", err
	}
	path := filepath.Join(j.call.Dir, "result.txt")
	return path, os.WriteFile(path, []byte(text), 0o600)
}
