package host

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"buddy/app/client"
	"buddy/sessions"
)

// Which session an id names, and a one-line message if it is unclear.
func TestWhichSessionIsMeant(t *testing.T) {
	all := []client.Description{{ID: "7f3b-2"}, {ID: "7f3a-1"}, {ID: "0c11-3"}}
	many := all
	for i := range 20 {
		many = append(many, client.Description{ID: fmt.Sprint("aa", i)})
	}
	silent := []Silent{{"dead-1", errors.New("it runs in an older buddy")}}
	for _, tt := range []struct {
		id   string
		all  []client.Description
		want string // an id, or the start of an error
	}{
		{"", all[:1], "7f3b-2"},
		{"last", all, "7f3b-2"},
		{"7f3a", all, "7f3a-1"},
		{"0c11-3", all, "0c11-3"},
		{"", nil, "no session is running; buddy resume continues a saved session"},
		{"last", nil, "no session is running; buddy resume continues a saved session"},
		{"7f3a", nil, `session "7f3a" is not running, and no other is; buddy resume 7f3a continues a saved session`},
		{"", all, "3 sessions are running: 7f3b-2, 7f3a-1, 0c11-3; name one (the start of its id is enough), or use last for the newest"},
		{"7f3", all, `"7f3" matches 2 running sessions: 7f3b-2, 7f3a-1; name one`},
		{"ffff", all, `session "ffff" is not running (running: 7f3b-2, 7f3a-1, 0c11-3); buddy resume ffff continues a saved session`},
		{"ffff", many, `session "ffff" is not running (running: 7f3b-2, 7f3a-1, 0c11-3, aa0, aa1, 18 more in buddy ls); buddy resume`},
		{"dead", all, "session dead-1: it runs in an older buddy"},
	} {
		d, err := choose(tt.id, tt.all, silent)
		got := d.ID
		if err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, tt.want) || strings.Contains(got, "\n") || err == nil && got != tt.want {
			t.Errorf("%q of %d: %q, want %q", tt.id, len(tt.all), got, tt.want)
		}
	}
}

// TestNoteOfADeadHost: a record of an ended or unrelated process delays nothing.
func TestNoteOfADeadHost(t *testing.T) {
	store := sessions.At(t.TempDir())
	for what, pid := range map[string]int{"ended": 1 << 30, "another": os.Getpid()} {
		began := time.Now()
		path, err := awaitNoted(store, sessions.NewID(), sessions.Host{PID: pid, Socket: "/nowhere/host-x/sock"})
		if path != "" || err != nil || time.Since(began) > returnTime/2 {
			t.Errorf("%s: %q, %v", what, path, err)
		}
	}
}
