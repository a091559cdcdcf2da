package sessions

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/adrg/xdg"

	"buddy/agent/event"
	"buddy/agent/model"
)

// setState points the user's state directory to a temporary one.
func setState(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("XDG_STATE_HOME", dir)
	xdg.Reload()
	t.Cleanup(xdg.Reload)
	return dir
}

// mkdir returns a function that creates folders in a working directory.
func mkdir(names ...string) func(work string) error {
	return func(work string) error {
		var err error
		for _, n := range names {
			err = errors.Join(err, os.MkdirAll(filepath.Join(work, n), 0o700))
		}
		return err
	}
}

func TestDir(t *testing.T) {
	tests := []struct {
		name   string
		setup  func(work string) error
		where  Location
		want   string // below the working directory; "" for the state directory
		notice string
	}{
		{"nothing there", mkdir(), Automatic, "", ""},
		{"of an older program", mkdir(".buddyx/sessions"), InState, "", ""},
		{"in the project", mkdir(), InProject, ".buddyx/sessions", ""},
		{"there already", mkdir(".buddyx/sessions"), InProject, ".buddyx/sessions", ""},
		{"legacy", mkdir(".agentx"), InProject, ".agentx/sessions", ""},
		{"both", mkdir(".agentx", ".buddyx"), InProject, ".buddyx/sessions", ""},
		{"a file in its place", func(w string) error {
			return os.WriteFile(filepath.Join(w, ".buddyx"), nil, 0o600)
		}, InProject, "", "a file is in its place"},
		{"a link that leads elsewhere", func(w string) error {
			return errors.Join(os.Mkdir(filepath.Join(w, ".buddyx"), 0o700),
				os.Symlink(os.TempDir(), filepath.Join(w, ".buddyx", "sessions")))
		}, InProject, "", "symbolic link"},
		{"a link that leads nowhere", func(w string) error {
			return os.Symlink("nowhere", filepath.Join(w, ".buddyx"))
		}, InProject, "", "symbolic link"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			state, work := setState(t), t.TempDir()
			if err := tt.setup(work); err != nil {
				t.Fatal(err)
			}
			s, notice, err := Dir(work, tt.where)
			if err != nil {
				t.Fatal(err)
			}
			want := filepath.Join(work, tt.want)
			if tt.want == "" {
				want = state
			}
			if !strings.HasPrefix(s.Path(), want) {
				t.Errorf("Path() = %q, want %q", s.Path(), want)
			}
			if (notice == "") != (tt.notice == "") || !strings.Contains(notice, tt.notice) {
				t.Errorf("notice %q, want %q", notice, tt.notice)
			}
			if files, err := os.ReadDir(state); err != nil || len(files) > 0 {
				t.Errorf("Dir created %v", files)
			}
			j := create(t, s)
			appendAll(t, j, stream(j.Info().Header.ID, 1))
			if again, _, err := Dir(work, tt.where); err != nil || again.dir != s.dir {
				t.Errorf("Dir again = %v, want %v", again, s)
			}
			if e, err := s.Last(); err != nil || e.ID != j.Info().Header.ID {
				t.Errorf("Last() = %v, %v", e, err)
			}
		})
	}
}

// Other users can't read the files, and git does not see them.
func TestModes(t *testing.T) {
	s := newStore(t)
	old := syscall.Umask(0)
	t.Cleanup(func() { syscall.Umask(old) })
	j := create(t, s)
	id := j.Info().Header.ID
	appendAll(t, j, stream(id, 1))
	if err := errors.Join(s.Draft(id).Save("x"), s.Trust(id)); err != nil {
		t.Fatal(err)
	}
	n := 0
	err := filepath.WalkDir(filepath.Dir(filepath.Dir(filepath.Dir(s.dir))), func(path string, d fs.DirEntry, err error) error {
		if err != nil || strings.HasSuffix(path, "/work") || !strings.HasPrefix(path, filepath.Dir(s.dir)) && !strings.HasPrefix(path, s.state) {
			return err
		}
		n++
		fi, err := d.Info()
		want := fs.FileMode(0o600)
		if d.IsDir() {
			want = 0o700
		}
		if err == nil && fi.Mode().Perm() != want {
			t.Errorf("%s has mode %v, want %v", path, fi.Mode().Perm(), want)
		}
		return err
	})
	if err != nil || n < 8 {
		t.Errorf("%d files seen, %v", n, err)
	}
	if got := string(readFile(t, filepath.Join(s.dir, ".gitignore"))); got != "*\n" {
		t.Errorf(".gitignore holds %q", got)
	}
	if got, want := s.OutDir(id), filepath.Join(s.dir, id, "out"); got != want {
		t.Errorf("OutDir = %q, want %q", got, want)
	}
	writeFile(t, filepath.Join(s.dir, ".gitignore"), []byte("mine"))
	create(t, s)
	if got := string(readFile(t, filepath.Join(s.dir, ".gitignore"))); got != "mine" {
		t.Errorf("a person's .gitignore became %q", got)
	}
}

func TestIDs(t *testing.T) {
	form := regexp.MustCompile(`^[0-9a-f]{4}(-[0-9a-f]{4}){3}$`)
	seen := map[string]bool{}
	for range 1000 {
		id := NewID()
		if !form.MatchString(id) || seen[id] || CheckID(id) != nil {
			t.Fatalf("id %q", id)
		}
		seen[id] = true
	}
	s := newStore(t)
	for _, id := range []string{"", ".", "..", "../x", "a/b", "a b", "é", "a\x00b", "a\n", strings.Repeat("x", 101)} {
		_, openErr := s.Open(id)
		_, createErr := s.Create(Header{ID: id})
		_, findErr := s.Find(id)
		for i, err := range []error{CheckID(id), openErr, createErr, findErr, s.Draft(id).Save("x"), s.Trust(id)} {
			if err == nil && (id != "" || i != 2) { // Create generates an id
				t.Errorf("id %q: no error from call %d", id, i)
			}
		}
	}
	j, err := s.Create(Header{ID: "My_session.1"})
	if err != nil {
		t.Fatal(err)
	}
	closeJournal(t, j)
	_, err = s.Create(Header{ID: "My_session.1"})
	if !errors.Is(err, fs.ErrExist) {
		t.Errorf("same id again: %v, want ErrExist", err)
	}
}

func TestKey(t *testing.T) {
	s := newStore(t)
	if key, err := loadKey(s.state); key != nil || err != nil {
		t.Fatalf("a key without a session: %x, %v", key, err)
	}
	keys := make([][]byte, 20)
	var wg sync.WaitGroup
	for i := range keys {
		wg.Go(func() {
			var err error
			if keys[i], err = makeKey(s.state); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, k := range keys {
		if len(k) != keySize || !bytes.Equal(k, keys[0]) {
			t.Fatalf("two keys: %x and %x", k, keys[0])
		}
	}
	files, err := os.ReadDir(s.state)
	if err != nil || len(files) != 1 {
		t.Errorf("state directory holds %v", files)
	}

	j := create(t, s)
	closeJournal(t, j)
	writeFile(t, KeyFile(s.state), []byte("short"))
	k := open(t, s, j.Info().Header.ID)
	if k.Info().Trusted || len(k.Info().Warnings) != 1 || !strings.Contains(k.Info().Warnings[0], "has 5 bytes (want 32)") {
		t.Errorf("with a broken key: %+v", k.Info())
	}
	// Without a key the session still starts.
	k = create(t, s)
	if err := KeyProblem(s); err == nil || k.ReadOnly() != nil {
		t.Errorf("created with a broken key: %v, %v", err, k.ReadOnly())
	}
}

// Nothing to resume is a clear error.
func TestNoSessions(t *testing.T) {
	s := newStore(t)
	if all, err := s.List(); err != nil || len(all) > 0 {
		t.Errorf("List of nothing = %v, %v", all, err)
	}
	_, err := s.Last()
	wantError(t, err, "no session has been saved in "+s.dir)
	if !errors.Is(err, ErrNone) {
		t.Errorf("Last() = %v, want ErrNone", err)
	}
	_, err = s.Find("abc")
	wantError(t, err, `"abc"`, "no session has been saved")
	_, err = s.Open("missing")
	wantError(t, err, "no session missing in "+s.dir)
}

// fourSessions creates sessions that were used in two different minutes.
func fourSessions(t *testing.T) Store {
	t.Helper()
	s := newStore(t)
	base := time.Now().Add(-time.Hour)
	for i, id := range []string{"abcd-1", "abcd-2", "abff-1", "zzzz-1"} {
		j, err := s.Create(Header{ID: id, Cwd: "/w", Model: "m"})
		if err != nil {
			t.Fatal(err)
		}
		appendAll(t, j, stream(id, i+1))
		closeJournal(t, j)
		used := base.Add(time.Duration(i/2) * time.Minute)
		if err := os.Chtimes(j.path, used, used); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func TestList(t *testing.T) {
	s := fourSessions(t)
	// None of these is a session.
	writeFile(t, filepath.Join(s.dir, "bad id!"+ext), []byte("x"))
	if err := errors.Join(os.Mkdir(s.file("folder"), 0o700), os.Symlink("/etc/passwd", s.file("link")), syscall.Mkfifo(s.file("fifo"), 0o600)); err != nil {
		t.Fatal(err)
	}
	create(t, s) // it has no prompt

	all, err := s.List()
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, e := range all {
		ids = append(ids, e.ID)
		if e.Title != "prompt 1: list the files" || e.Header.Model != "m" || e.Size == 0 {
			t.Errorf("entry %+v", e)
		}
	}
	if got, want := strings.Join(ids, " "), "abff-1 zzzz-1 abcd-1 abcd-2"; got != want {
		t.Errorf("List = %s, want %s", got, want)
	}
	if e, err := s.Last(); err != nil || e.ID != "abff-1" {
		t.Errorf("Last = %v, %v", e.ID, err)
	}
	for _, id := range []string{"folder", "link", "fifo"} {
		_, err := s.Open(id) // must not block or follow
		wantError(t, err, id)
	}
}

// A person who resumes does not get a session of buddy exec, unless there is no other.
func TestLastOfPerson(t *testing.T) {
	for _, tt := range []struct{ name, by, want, last string }{
		{"nobody", "", "", ""},
		{"only exec", "e", "e0", "e0"},
		{"exec was last", "pe", "p0", "e1"},
		{"a person was last", "ep", "p1", "p1"},
		{"exec before and after", "epe", "p1", "e2"},
		{"another folder was last", "php", "h1", "p2"},
		{"exec in this folder", "he", "h0", "e1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, names := newStore(t), map[string]string{"": ""}
			for i, by := range tt.by {
				h := Header{ID: NewID(), By: map[rune]string{'e': Exec}[by], Cwd: map[rune]string{'h': "/here"}[by]}
				names[h.ID] = fmt.Sprintf("%c%d", by, i)
				j, err := s.Create(h)
				if err != nil {
					t.Fatal(err)
				}
				appendAll(t, j, stream(h.ID, 1))
				used := time.Unix(int64(1000+i), 0)
				if err := errors.Join(j.Close(), os.Chtimes(s.File(h.ID), used, used)); err != nil {
					t.Fatal(err)
				}
			}
			e, _, err := LastOfPerson(s, "/here")
			if names[e.ID] != tt.want || errors.Is(err, ErrNone) != (tt.want == "") {
				t.Errorf("LastOfPerson is %q, %v; want %q", names[e.ID], err, tt.want)
			}
			if last, _ := s.Last(); names[last.ID] != tt.last {
				t.Errorf("Last is %q, want %q", names[last.ID], tt.last)
			}
		})
	}
}

func TestFind(t *testing.T) {
	s := fourSessions(t)
	tests := []struct{ prefix, id, err string }{
		{"z", "zzzz-1", ""},
		{"abcd-1", "abcd-1", ""},
		{"abf", "abff-1", ""},
		{"ab", "", `session "ab" could be one of 3: abff-1, abcd-1, abcd-2`},
		{"zzzy-1", "", `no session "zzzy-1" in ` + s.dir + " (nearest: zzzz-1, "},
	}
	for _, tt := range tests {
		id, err := s.Find(tt.prefix)
		if id != tt.id || tt.err == "" && err != nil {
			t.Errorf("Find(%q) = %q, %v, want %q", tt.prefix, id, err, tt.id)
		}
		if tt.err != "" {
			wantError(t, err, tt.err)
		}
	}
}

// A session has a title even if its first prompt is too long to be read, or has a picture that makes its line as long.
func TestTitleOfAVeryLongPrompt(t *testing.T) {
	for name, c := range map[string]struct {
		prompt event.PromptSubmitted
		want   string
	}{
		"text":       {event.PromptSubmitted{ID: 1, Text: strings.Repeat("make it so ", titleBytes/8)}, "make it so make it so make it so make it so make it so make…"},
		"escapes":    {event.PromptSubmitted{ID: 1, Text: strings.Repeat("\x01\\", titleBytes/2)}, strings.TrimSpace(strings.Repeat(`\ `, 30))[:58] + `\…`},
		"wide":       {event.PromptSubmitted{ID: 1, Text: strings.Repeat("日本", titleBytes/4)}, strings.Repeat("日本", 29) + "日…"},
		"a picture":  {event.PromptSubmitted{ID: 1, Text: "what is this?", Images: []model.Image{{Data: make([]byte, titleBytes)}}}, "what is this?"},
		"one letter": {event.PromptSubmitted{ID: 1, Text: "x", Images: []model.Image{{Data: make([]byte, titleBytes)}}}, "x"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			j := create(t, s)
			id := j.Info().Header.ID
			appendAll(t, j, []event.Envelope{
				{Seq: 1, Session: id, Payload: event.SessionCreated{}}, {Seq: 2, Session: id, Payload: c.prompt},
			})
			closeJournal(t, j)
			all, err := s.List()
			if err != nil || len(all) != 1 || all[0].Title != c.want {
				t.Errorf("List = %.300v, %v", all, err)
			}
		})
	}
}

func TestFindTitle(t *testing.T) {
	s := newStore(t)
	ids := map[string]string{}
	for _, title := range []string{"Checkout taxes", "checkout", "Checkout taxes of 2025", "Ünïcode", "flood", "flood"} {
		id := stored(t, s, 1)
		if err := s.Rename(id, title); err != nil {
			t.Fatal(err)
		}
		ids[title] = id
	}
	for _, tt := range []struct{ words, title, err string }{
		{"CHECKOUT", "checkout", ""}, // a complete title precedes words in others
		{"checkout  taxes", "Checkout taxes", ""},
		{"2025 taxes", "Checkout taxes of 2025", ""},
		{"üNÏ", "Ünïcode", ""},
		{"taxes", "", `"taxes" is in the titles of 2 sessions: `},
		{"flood", "", `"flood" is in the titles of 2 sessions: `},
		{"taxes nowhere", "", `no session has been saved whose title has "taxes nowhere", in ` + s.dir},
		{" ", "", "no session has been saved whose title has"},
	} {
		id, err := FindTitle(s, tt.words)
		if id != ids[tt.title] || tt.err == "" && err != nil {
			t.Errorf("FindTitle(%q) = %q, %v, want %q", tt.words, id, err, ids[tt.title])
		}
		if tt.err != "" {
			wantError(t, err, tt.err)
		}
	}
}

func TestTitle(t *testing.T) {
	tests := []struct{ text, want string }{
		{"", ""},
		{" two\n\twords ", "two words"},
		{"a\x1b[31mred\x00", "a [31mred"},
		{strings.Repeat("é", 60), strings.Repeat("é", 60)},
		{strings.Repeat("é", 61), strings.Repeat("é", 59) + "…"},
		{strings.Repeat("x ", 1<<20), strings.Repeat("x ", 29) + "x…"},
	}
	for _, tt := range tests {
		s := newStore(t)
		j := create(t, s)
		appendAll(t, j, []event.Envelope{{Seq: 1, Payload: event.PromptSubmitted{Text: tt.text}}})
		if all, err := s.List(); err != nil || len(all) != 1 || all[0].Title != tt.want {
			t.Errorf("title of %.20q: %+v (%v), want %q", tt.text, all, err, tt.want)
		}
	}
}

// The error names a file in place of the sessions' folder.
func TestFileInPlaceOfTheFolder(t *testing.T) {
	s, id := newStore(t), NewID()
	writeFile(t, filepath.Join(s.dir, "file"), nil)
	bad := Store{dir: filepath.Join(s.dir, "file")}
	wantError(t, bad.Draft(id).Save("x"), "file")
	_, err := bad.Create(Header{})
	wantError(t, err, "sessions folder", "file")
	_, err = bad.List()
	wantError(t, err, "sessions folder")
}

func Example() {
	dir, err := os.MkdirTemp("", "work")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // an example
	store := Store{dir: dir, state: dir}

	j, err := store.Create(Header{Cwd: "/work", Target: "local", Model: "demo"})
	if err != nil {
		log.Fatal(err)
	}
	id := j.Info().Header.ID
	err = j.Append(event.Envelope{Seq: 1, Session: id, Payload: event.PromptSubmitted{ID: 1, Text: "run the tests"}})
	if err = errors.Join(err, j.Close()); err != nil {
		log.Fatal(err)
	}

	last, err := store.Last()
	if err != nil {
		log.Fatal(err)
	}
	j, err = store.Open(last.ID)
	if err != nil {
		log.Fatal(err)
	}
	part, err := j.Tail(200)
	fmt.Println(last.Title, len(part.Events), part.First, event.NextSeq(j.Info().LastSeq), errors.Join(err, j.Close()))
	// Output: run the tests 1 true 1000000 <nil>
}
