package agent

import (
	"fmt"
	"os"
	"path/filepath"

	"buddy/agent/event"
	"buddy/tools"
)

// What results may have before they go to a file, in bytes (B28).
const (
	spillResult = 50_000  // one
	spillTurn   = 200_000 // all of one answer together
	spillLeast  = 4_000   // one that is shortened because of the others
)

// spill keeps a result that is too long in a file of the session and leaves its beginning
// and its end, which name the file. What was decided is in the event and in the history,
// and never decided anew, so that the cached prefix stays as it is. Without a file the
// rest is lost, and the result says so.
func (r *Runtime) spill(t *task, turn int, j *job, res *tools.Result) {
	limit := spillResult
	r.mu.Lock()
	if left := spillTurn - t.spent; left < limit {
		limit = max(left, spillLeast)
	}
	r.mu.Unlock()
	if len(res.Content) > limit {
		whole := res.Content
		path, err := r.saveResult(j, whole)
		note := fmt.Sprintf("the whole result (%d bytes) is in %s", len(whole), path)
		if err != nil {
			note = "the rest is lost, because it could not be saved: " + err.Error()
		} else {
			res.Full = &tools.File{Path: path, Bytes: int64(len(whole))}
			r.emit(t.id, turn, event.ResultSpilled{CallID: j.call.ID, Path: path, Bytes: int64(len(whole))})
		}
		res.Content = clipped(whole, limit) + "\n[" + note + "]"
	}
	r.mu.Lock()
	t.spent += len(res.Content)
	r.mu.Unlock()
}

// saveResult writes a result to the call's folder.
func (r *Runtime) saveResult(j *job, text string) (string, error) {
	if j.call.Dir == "" {
		return "", fmt.Errorf("the session keeps no files")
	}
	if err := os.MkdirAll(j.call.Dir, 0o700); err != nil {
		return "", err
	}
	path := filepath.Join(j.call.Dir, "result.txt")
	return path, os.WriteFile(path, []byte(text), 0o600)
}
