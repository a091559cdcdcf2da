package sessions

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"buddy/texts"

	"github.com/adrg/xdg"
)

// moveable returns the store of a project in a state folder, and the folder where an older program kept some sessions,
// each with outputs, a draft and trust.
func moveable(t testing.TB, state, work string, sessions int) (s Store, from string) {
	t.Helper()
	work = texts.RealPath(work)
	s = Store{dir: inProjects(state, work), state: state, root: work, others: []string{filepath.Join(work, ".buddyx", "sessions")}}
	old := Store{dir: s.others[0], state: state}
	for i := range sessions {
		id := fmt.Sprintf("s%d", i)
		j, err := old.Create(Header{ID: id, Cwd: work, Target: "local"})
		if err != nil {
			t.Fatal(err)
		}
		appendAll(t, j, stream(id, 1))
		err = errors.Join(j.Close(), os.MkdirAll(old.OutDir(id), 0o700), os.WriteFile(old.OutDir(id)+"/1", []byte("output "+id), 0o600),
			os.WriteFile(old.drafts(id)[0], []byte("draft "+id), 0o600), old.Trust(id), os.Chtimes(old.file(id), time.Unix(int64(i), 0), time.Unix(int64(i), 0)))
		if err != nil {
			t.Fatal(err)
		}
	}
	err := errors.Join(os.WriteFile(old.dir+"/old.json", []byte("{}"), 0o600), os.MkdirAll(MemoryDir(old), 0o700),
		os.WriteFile(MemoryDir(old)+"/memory.md", []byte("- a\n- b\n"), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	return s, old.dir
}

// hasAll checks that a store has all sessions of moveable with their files.
func hasAll(t *testing.T, s Store, sessions int) {
	t.Helper()
	all, err := s.List()
	if err != nil || len(all) != sessions {
		t.Fatalf("%d sessions, want %d; %v", len(all), sessions, err)
	}
	for i, e := range all {
		if want := fmt.Sprintf("s%d", sessions-1-i); e.ID != want {
			t.Errorf("session %d is %s, want %s", i, e.ID, want)
		}
		j := open(t, s, e.ID)
		if err := j.ReadOnly(); err != nil {
			t.Errorf("%s: %v", e.ID, err)
		}
		if got := len(load(t, j).Events); got != len(stream(e.ID, 1)) {
			t.Errorf("%s has %d events", e.ID, got)
		}
		closeJournal(t, j)
		for path, want := range map[string]string{s.OutDir(e.ID) + "/1": "output " + e.ID, s.drafts(e.ID)[0]: "draft " + e.ID} {
			if got, err := os.ReadFile(path); string(got) != want || err != nil {
				t.Errorf("%s has %q, %v", path, got, err)
			}
		}
	}
	for path, want := range map[string]string{s.dir + "/old.json": "{}", MemoryDir(s) + "/memory.md": "- a\n- b\n"} {
		if got, err := os.ReadFile(path); string(got) != want || err != nil {
			t.Errorf("%s has %q, %v", path, got, err)
		}
	}
}

func TestMove(t *testing.T) {
	for name, places := range elsewhere(t) {
		t.Run(name, func(t *testing.T) {
			s, from := moveable(t, places[0], places[1], 3)
			if m, err := Move(s); m != (Moved{Sessions: 3}) || err != nil {
				t.Fatalf("moved %v, %v", m, err)
			}
			hasAll(t, s, 3)
			if to, err := os.Readlink(from); to != s.dir || err != nil {
				t.Errorf("in the old place is a link to %q, %v", to, err)
			}
			if m, err := Move(s); m != (Moved{}) || err != nil {
				t.Errorf("again: %v, %v", m, err)
			}
		})
	}
}

// elsewhere returns pairs of a state folder and a project, on one file system and on two.
func elsewhere(t *testing.T) map[string][2]string {
	t.Helper()
	all := map[string][2]string{"one file system": {t.TempDir(), t.TempDir()}}
	var here, there syscall.Stat_t
	state := t.TempDir()
	shm, err := os.MkdirTemp("/dev/shm", "buddy-move-")
	if err == nil {
		t.Cleanup(func() { _ = os.RemoveAll(shm) })
		err = errors.Join(syscall.Stat(state, &here), syscall.Stat(shm, &there))
	}
	if err == nil && here.Dev != there.Dev {
		all["two file systems"] = [2]string{state, shm}
	}
	return all
}

// A session that a process works on stays with its files, and is moved after the process has ended.
func TestMoveLeavesABusySession(t *testing.T) {
	s, from := moveable(t, t.TempDir(), t.TempDir(), 3)
	_, out, wait := child(t, Store{dir: from, state: s.state}, "s1", "hold")
	out.Scan()
	if m, err := Move(s); m != (Moved{Sessions: 2, Busy: 1}) || err != nil {
		t.Fatalf("moved %v, %v", m, err)
	}
	others := s.Others()
	if len(others) != 1 {
		t.Fatalf("other stores: %v", others)
	}
	if all, err := others[0].List(); len(all) != 1 || all[0].ID != "s1" || err != nil {
		t.Errorf("in the old place are %v, %v", all, err)
	}
	for _, path := range []string{others[0].OutDir("s1") + "/1", others[0].drafts("s1")[0]} {
		if !exists(path) {
			t.Errorf("%s went without its session", path)
		}
	}
	wait()
	if m, err := Move(s); m != (Moved{Sessions: 1}) || err != nil {
		t.Fatalf("moved %v, %v", m, err)
	}
	hasAll(t, s, 3)
}

// Files whose name exists in the new place stay in the old one, and nothing is replaced. Links and special files stay
// as well.
func TestMoveReplacesNothing(t *testing.T) {
	s, from := moveable(t, t.TempDir(), t.TempDir(), 2)
	old := Store{dir: from, state: s.state}
	secret := filepath.Join(t.TempDir(), "secret")
	err := errors.Join(
		os.MkdirAll(s.OutDir("s0"), 0o700), os.WriteFile(s.OutDir("s0")+"/1", []byte("another"), 0o600), // another output
		os.WriteFile(s.file("s1"), []byte("{}\n"), 0o600), // another session
		os.WriteFile(secret, []byte("secret"), 0o600), os.Symlink(secret, old.OutDir("s0")+"/2"), syscall.Mkfifo(from+"/fifo", 0o600),
		os.MkdirAll(MemoryDir(s), 0o700), os.WriteFile(MemoryDir(s)+"/memory.md", []byte("- b\n- c"), 0o600),
	)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Move(s); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		s.OutDir("s0") + "/1": "another", old.OutDir("s0") + "/1": "output s0", s.file("s1"): "{}\n", MemoryDir(s) + "/memory.md": "- b\n- c\n- a\n",
	} {
		if got, err := os.ReadFile(path); string(got) != want || err != nil {
			t.Errorf("%s has %q, %v; want %q", path, got, err, want)
		}
	}
	if !exists(old.file("s1")) || exists(s.OutDir("s0")+"/2") || exists(s.dir+"/fifo") {
		t.Error("a session that was in the way is gone, or a link or a pipe came along")
	}
}

// A move that is killed at any time loses nothing: the next one completes it.
func TestKilledMove(t *testing.T) {
	kills := 8
	if n, err := strconv.Atoi(os.Getenv("MOVE_KILLS")); err == nil {
		kills = n
	}
	for name, places := range elsewhere(t) {
		t.Run(name, func(t *testing.T) {
			stopped, most := 0, map[string]int{"one file system": 3_000, "two file systems": 60_000}[name]
			for i := range kills {
				const sessions = 8
				s, _ := moveable(t, filepath.Join(places[0], strconv.Itoa(i)), filepath.Join(places[1], strconv.Itoa(i)), sessions)
				cmd, out, _ := child(t, Store{dir: s.root, state: s.state}, "", "move")
				out.Scan()
				time.Sleep(time.Duration(rand.IntN(most)) * time.Microsecond) //nolint:forbidigo // tests the instant of the kill
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
				_ = cmd.Wait()
				m, err := Move(s)
				if err != nil {
					t.Fatal(err)
				}
				if m.Sessions > 0 && m.Sessions < sessions {
					stopped++
				}
				hasAll(t, s, sessions)
				if left, err := filepath.Glob(filepath.Join(s.dir, ".*")); len(left) > 1 || err != nil { // the index
					t.Errorf("left over: %q, %v", left, err)
				}
			}
			t.Logf("%d of %d kills stopped a move", stopped, kills)
		})
	}
}

// move moves the sessions of the project at the folder of s.
func move(s Store, _ string) error {
	to := Store{dir: inProjects(s.state, s.dir), state: s.state, root: s.dir, others: []string{filepath.Join(s.dir, ".buddyx", "sessions")}}
	fmt.Println("now")
	_, err := Move(to)
	return err
}

// An older program sees the sessions that were not moved, and those that it adds are moved at the next start.
func TestMoveOfWhatAnOlderProgramAdds(t *testing.T) {
	s, from := moveable(t, t.TempDir(), t.TempDir(), 2)
	if _, err := Move(s); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(from); err != nil { // git clean
		t.Fatal(err)
	}
	added := stored(t, Store{dir: from, state: s.state}, 1)
	if m, err := Move(s); m != (Moved{Sessions: 1}) || err != nil {
		t.Errorf("moved %v, %v", m, err)
	}
	load(t, open(t, s, added))
}

// Two programs that move at the same time move each session once.
func TestMovesAtOnce(t *testing.T) {
	s, _ := moveable(t, t.TempDir(), t.TempDir(), 40)
	results := make(chan int)
	for range 4 {
		go func() {
			m, err := Move(s)
			if err != nil {
				t.Error(err)
			}
			results <- m.Sessions
		}()
	}
	total := 0
	for range 4 {
		total += <-results
	}
	if total != 40 {
		t.Errorf("%d sessions moved, want 40", total)
	}
	hasAll(t, s, 40)
}

// The first start moves all sessions that older programs kept in a project, in whichever of its folders they ran.
func TestMoveFromAllFolders(t *testing.T) {
	setState(t)
	shop := repository(t)
	sum := sha256.Sum256([]byte(shop))
	state := filepath.Join(xdg.StateHome, "buddy")
	want := map[string]bool{}
	for _, dir := range []string{
		shop + "/.buddyx/sessions", shop + "/.agentx/sessions", shop + "/sub/.buddyx/sessions",
		state + "/sessions/shop-" + hex.EncodeToString(sum[:4]),
	} {
		want[stored(t, Store{dir: dir, state: state}, 1)] = true
	}
	outside := stored(t, Store{dir: filepath.Dir(shop) + "/other/.buddyx/sessions", state: state}, 1)
	s := storeOf(t, shop)
	if m, err := Move(s); m != (Moved{Sessions: 4}) || err != nil {
		t.Fatalf("moved %v, %v", m, err)
	}
	all, err := s.List()
	if len(all) != 4 || err != nil {
		t.Fatalf("%d sessions, %v", len(all), err)
	}
	for _, e := range all {
		if !want[e.ID] || e.ID == outside {
			t.Errorf("session %s is not of the project", e.ID)
		}
	}
	if left, err := folders(state); len(left) != 1 || err != nil {
		t.Errorf("the list of folders has %q, %v", left, err)
	}
	for _, dir := range []string{shop + "/.agentx", shop + "/sub/.buddyx"} {
		if exists(dir) {
			t.Errorf("%s is left", dir)
		}
	}
}

// A folder that becomes part of a repository keeps its sessions.
func TestMoveIntoANewRepository(t *testing.T) {
	setState(t)
	above := texts.RealPath(t.TempDir())
	sub := filepath.Join(above, "sub")
	if err := os.Mkdir(sub, 0o755); err != nil {
		t.Fatal(err)
	}
	id := stored(t, storeOf(t, sub), 1)
	git(t, above, "init", "-q")
	s := storeOf(t, sub)
	if m, err := Move(s); m != (Moved{Sessions: 1}) || err != nil || Project(s) != above {
		t.Fatalf("moved %v to the sessions of %s, %v", m, Project(s), err)
	}
	load(t, open(t, s, id))
}
