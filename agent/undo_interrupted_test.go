package agent

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"buddy/agent/event"
	"buddy/tools"
	"buddy/tools/file"
)

// interruptedFiles restores the first files and then stops everything, as if the process were killed.
type interruptedFiles struct {
	Files
	first int
}

func (f interruptedFiles) Restore(ctx context.Context, files []tools.Before, force bool) ([]string, error) {
	if changed, err := f.Files.Restore(ctx, files[:f.first], force); err != nil || len(changed) > 0 {
		return changed, err
	}
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestInterruptedUndo: after a process ended while it restored files, /undo and /redo reach all of them, and the next
// process warns about it.
func TestInterruptedUndo(t *testing.T) {
	const undoCut, redoCut = "an undo was interrupted", "a redo was interrupted"
	type run struct {
		put   string        // earlier content of a.txt, by somebody else
		cut   int           // number of files before the kill
		old   bool          // events of a version without the announcement
		do    event.Command // for a Rewind, to before the second prompt
		says  string        // warning at the start
		error string        // error text
		want  map[string]string
	}
	first := map[string]string{"a.txt": "one\n", "b.txt": "", "c.txt": ""}
	second := map[string]string{"a.txt": "two\n", "b.txt": "b\n", "c.txt": "c\n"}
	half := map[string]string{"a.txt": "one\n", "b.txt": "b\n", "c.txt": "c\n"}
	none := map[string]string{"a.txt": "", "b.txt": "", "c.txt": ""}
	rewind := event.Rewind{Files: true}
	for name, runs := range map[string][]run{
		"redo brings the files back": {
			{do: event.Undo{}, cut: 1, want: half},
			{says: undoCut, do: event.Redo{}, want: second},
			{do: event.Undo{}, want: first},
			{do: event.Redo{}, want: second},
		},
		"undo restores the others": {
			{do: event.Undo{}, cut: 1, want: half},
			{says: undoCut, do: event.Undo{}, want: first},
			{do: event.Redo{}, want: second},
			{do: event.Undo{}, want: first},
			{do: event.Undo{}, want: none},
		},
		"of more prompts": {
			{do: event.Undo{Steps: 2}, cut: 1, want: map[string]string{"a.txt": "", "b.txt": "b\n", "c.txt": "c\n"}},
			{says: undoCut, do: event.Undo{}, want: none},
			{do: event.Redo{}, want: second},
		},
		"more prompts than before": {
			{do: event.Undo{}, cut: 2, want: map[string]string{"a.txt": "one\n", "b.txt": "", "c.txt": "c\n"}},
			{says: undoCut, do: event.Undo{Steps: 2}, want: none},
			{do: event.Redo{}, want: second},
		},
		"twice": {
			{do: event.Undo{}, cut: 1, want: half},
			{says: undoCut, do: event.Undo{}, cut: 2},
			{says: undoCut, do: event.Redo{}, cut: 1},
			{says: undoCut, do: event.Redo{}, want: second},
			{do: event.Undo{}, want: first},
			{do: event.Redo{}, want: second},
		},
		"nothing was done since": {
			{do: event.Undo{}, cut: 1, want: half},
			{says: undoCut, want: half},
			{says: undoCut, do: event.Redo{}, want: second},
		},
		"somebody changed a file since": {
			{do: event.Undo{}, cut: 1, want: half},
			{says: undoCut, put: "mine\n", do: event.Undo{}, error: "because these files have changed since"},
			{says: undoCut, do: event.Redo{}, error: "because these files have changed since"},
			{says: undoCut, put: "one\n", do: event.Redo{}, want: second},
			{do: event.Undo{}, want: first},
		},
		"of an undo that did nothing nothing is said": {
			{put: "mine\n", do: event.Undo{}, error: "because these files have changed since"},
			{do: event.Redo{}, error: "nothing to redo"},
			{put: "two\n", do: event.Undo{}, want: first},
			{do: event.Redo{}, want: second},
		},
		"rewind": {
			{do: rewind, cut: 1, want: half},
			{says: undoCut, do: rewind, want: first},
			{do: event.Redo{}, want: second},
		},
		"rewind of both": {
			{do: event.Rewind{Files: true, Conversation: true}, cut: 1, want: half},
			{says: undoCut, do: event.Redo{}, want: second},
			{do: event.Rewind{Files: true, Conversation: true}, want: first},
			{do: event.Redo{}, want: second},
		},
		"after a rewind of the conversation": {
			{do: event.Rewind{Conversation: true}, want: second},
			{do: event.Undo{}, cut: 1, want: half},
			{says: undoCut, do: event.Redo{}, want: second},
		},
		"redo": {
			{do: event.Undo{}, want: first},
			{do: event.Redo{}, cut: 2, want: map[string]string{"a.txt": "two\n", "b.txt": "b\n", "c.txt": ""}},
			{says: redoCut, do: event.Redo{}, want: second},
			{do: event.Undo{}, want: first},
			{do: event.Redo{}, want: second},
		},
		"of an earlier version": {
			{do: event.Undo{}, want: first},
			{old: true, do: event.Redo{}, want: second},
			{old: true, do: event.Undo{}, want: first},
		},
		"new changes": {
			{do: event.Undo{}, cut: 1, want: half},
			{says: undoCut, do: event.Submit{Text: "more"}, want: map[string]string{"d.txt": "d\n"}},
			{do: event.Undo{}, want: map[string]string{"a.txt": "one\n", "b.txt": "b\n", "c.txt": "c\n", "d.txt": ""}},
			{do: event.Redo{}, want: map[string]string{"d.txt": "d\n"}},
			{do: event.Undo{}, want: map[string]string{"d.txt": ""}},
			{do: event.Undo{}, want: map[string]string{"a.txt": ""}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, out := t.TempDir(), t.TempDir()
			put := putIn(t, dir)
			var stored []event.Envelope
			session := func(t *testing.T, cut int, steps ...step) (s *session, j *heldJournal) {
				ws, err := file.NewWorkspace(dir, nil)
				if err != nil {
					t.Fatal(err)
				}
				j = &heldJournal{events: slices.Clone(stored)}
				return undoingSession(t, dir, out, stored, func(o *Options) {
					o.Journal = j
					if cut > 0 {
						o.Files = func(context.Context, string) (Files, error) { return interruptedFiles{ws, cut}, nil }
					}
				}, steps...), j
			}
			synctest.Test(t, func(t *testing.T) {
				s, j := session(t, 0, says("", writes("w1", "a.txt", "one\n")), says("done"),
					says("", writes("w2", "a.txt", "two\n"), writes("w3", "b.txt", "b\n"), writes("w4", "c.txt", "c\n")), says("done"))
				s.do(event.Submit{Text: "first"})
				s.do(event.Submit{Text: "second"})
				s.stop()
				stored = j.events
			})
			for i, r := range runs {
				synctest.Test(t, func(t *testing.T) {
					if r.old {
						stored = slices.DeleteFunc(stored, func(env event.Envelope) bool { return is[event.FileRestoring](env.Payload) })
					}
					if r.put != "" {
						put("a.txt", r.put)
					}
					s, j := session(t, r.cut, says("", writes("w5", "d.txt", "d\n")), says("done"))
					if w, n := find[event.Warning](s); (n > 0) != (r.says != "") || !strings.HasPrefix(w.Text, r.says) {
						t.Errorf("%d: at the start it says %q, want %q", i, w.Text, r.says)
					}
					if c, ok := r.do.(event.Rewind); ok {
						c.ToSeq = openings(stored)[1]
						r.do = c
					}
					if r.do != nil {
						s.do(r.do)
					}
					w, _ := find[event.Warning](s)
					e, n := find[event.Error](s)
					if said := w.Text + e.Text; !strings.Contains(said, r.error) || r.error == "" && n > 0 {
						t.Errorf("%d: it says %q, want %q", i, said, r.error)
					}
					wantFiles(t, dir, r.want)
					if r.cut > 0 {
						stored = slices.Clone(j.events) // the rest is lost
					}
					s.stop()
					if r.cut == 0 {
						stored = j.events
					}
				})
			}
		})
	}
}

func is[E event.Event](e event.Event) bool {
	_, ok := e.(E)
	return ok
}

// openings returns the numbers of the prompts that opened exchanges.
func openings(stored []event.Envelope) (all []uint64) {
	for _, env := range stored {
		if p, ok := env.Payload.(event.PromptSubmitted); ok && p.Kind == event.Opening && !p.Queued {
			all = append(all, env.Seq)
		}
	}
	return all
}
