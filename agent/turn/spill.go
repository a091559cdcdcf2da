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

// What results may have before they go to a file, in bytes.
const (
	spillResult = 50_000  // one
	spillTurn   = 200_000 // all of one answer together
	spillLeast  = 4_000   // what is left of one that is shortened because of the others
	spillRoom   = 5_000   // for what a result says beside a page, which comes whole
)

// given is a result of the present turn.
type given struct {
	job   *job
	whole string // without what was done to it for the model
	sent  int    // bytes that the model reads
	full  *action.FullOutput
}

// spill keeps a result that is too long in a file of the session and leaves its beginning
// and its end, which name the file. What was decided is in the event and in the history,
// and never decided anew, so that the cached prefix stays as it is. Without a file the
// rest is lost, and the result says so.
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

// shortened returns the beginning and the end of a result, at most about limit bytes, and
// the file that has all of it; nil when it could not be saved.
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

// capResults shortens the largest results of an answer until all together have at most
// spillTurn bytes. It comes when all are there, so that one that is small is never cut
// because it came late.
func (l *Loop) capResults(x *Exchange, turn int) {
	all := take(x, &x.got.given)
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
		const note = 300 // bytes for what is said about it
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
		x.talk.Shorten(x.task, turn, e)
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
