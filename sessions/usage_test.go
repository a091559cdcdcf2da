package sessions

import (
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"buddy/agent/event"
	"buddy/agent/model"
)

// request returns the event of a request to a model on a day of November 2026.
func request(seq uint64, day int, name string, cost model.Money, unpriced int) event.Envelope {
	at := time.Date(2026, time.November, day, 12, 0, 0, 0, time.Local)
	return event.Envelope{Seq: seq, Time: at.UnixMilli(), Payload: event.MetricsUsage{Model: name, Prompt: 100, Cached: 60, Completion: 10, Cost: cost, SessionUnpriced: unpriced}}
}

func use(day, name string, requests int, cost model.Money, unpriced int) Use {
	return Use{Day: day, Model: name, Requests: requests, Prompt: 100 * requests, Cached: 60 * requests, Completion: 10 * requests, Cost: cost, Unpriced: unpriced}
}

func wantUses(t *testing.T, s Store, want ...Use) {
	t.Helper()
	got, err := Uses(s)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("uses\n%+v\nwant\n%+v", got, want)
	}
}

// Requests are summed by day and model over all sessions, and lines that are added later count once.
func TestUsesOfAllSessions(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	wantUses(t, s)
	a, b := create(t, s), create(t, s)
	appendAll(t, a, []event.Envelope{request(1, 1, "m", 5, 0), request(2, 1, "m", 0, 1), request(3, 2, "n", 7, 1)})
	appendAll(t, b, []event.Envelope{request(1, 1, "m", 4, 0)})
	wantUses(t, s, use("2026-11-01", "m", 3, 9, 1), use("2026-11-02", "n", 1, 7, 0))
	appendAll(t, a, []event.Envelope{request(4, 2, "n", 0, 2)})
	wantUses(t, s, use("2026-11-01", "m", 3, 9, 1), use("2026-11-02", "n", 2, 7, 1))
	closeJournal(t, b)
	if err := os.Remove(b.path); err != nil {
		t.Fatal(err)
	}
	wantUses(t, s, use("2026-11-01", "m", 2, 5, 1), use("2026-11-02", "n", 2, 7, 1))
}

// A fork, and a fork of a fork, count only their own requests.
func TestUsesOfAFork(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	j := create(t, s)
	appendAll(t, j, exchange(j.Info().Header.ID, 1, 1))
	last := j.last
	appendAll(t, j, []event.Envelope{request(last+1, 1, "m", 5, 0)})
	appendAll(t, j, exchange(j.Info().Header.ID, last+2, 2))
	id := j.Info().Header.ID
	var err error
	for n := range 2 {
		if id, _, err = s.Fork(id, 0); err != nil {
			t.Fatal(err)
		}
		f := open(t, s, id)
		appendAll(t, f, []event.Envelope{request(f.last+1, 2, "m", 3, 0)})
		appendAll(t, f, exchange(id, f.last+1, 3+n))
		closeJournal(t, f)
	}
	got, err := Uses(s)
	if err != nil || len(got) != 3 || got[0].Requests != 4 { // of the four exchanges, in 2023
		t.Fatal(got, err)
	}
	if want := []Use{use("2026-11-01", "m", 1, 5, 0), use("2026-11-02", "m", 2, 6, 0)}; !reflect.DeepEqual(got[1:], want) {
		t.Errorf("uses\n%+v\nwant\n%+v", got[1:], want)
	}
}

// The index is only a cache: damage, an old version and a file that was replaced are noticed.
func TestUsesWithoutTheirIndex(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	j := create(t, s)
	appendAll(t, j, []event.Envelope{request(1, 1, "m", 5, 0), request(2, 2, "m", 5, 0)})
	want := []Use{use("2026-11-01", "m", 1, 5, 0), use("2026-11-02", "m", 1, 5, 0)}
	wantUses(t, s, want...)
	good := string(readFile(t, usesPath(s)))
	for _, text := range []string{"", "{", good[:len(good)/2], strings.Replace(good, `"version":1`, `"version":0`, 1), `{"version":1,"sessions":null}`, `{"version":1,"sessions":{"x":null}}`} {
		writeFile(t, usesPath(s), []byte(text))
		wantUses(t, s, want...)
	}
	closeJournal(t, j)
	lines := strings.SplitAfter(string(readFile(t, j.path)), "\n")
	writeFile(t, j.path, []byte(lines[0]+lines[1]))
	wantUses(t, s, want[:1]...)
	writeFile(t, j.path, []byte(lines[0]+lines[1]+lines[2][:len(lines[2])-5])) // the last line is still being written
	wantUses(t, s, want[:1]...)
	writeFile(t, j.path, []byte(lines[0]+lines[1]+lines[2]))
	wantUses(t, s, want...)
}
