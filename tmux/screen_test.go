package tmux_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"buddy/tmux"
	"buddy/tmux/tmuxtest"
)

// album keeps the pictures of a session.
type album struct {
	mu  sync.Mutex
	all []tmux.Screen
	at  []time.Time
}

func (a *album) show(s tmux.Screen) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all, a.at = append(a.all, s), append(a.at, time.Now())
}

func (a *album) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.all)
}

func (a *album) last() (tmux.Screen, string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.all) == 0 {
		return tmux.Screen{}, ""
	}
	s := a.all[len(a.all)-1]
	return s, strings.TrimRight(strings.Join(s.Rows, "\n"), "\n")
}

// newAlbum returns a session whose pictures are kept, with its pane open.
func newAlbum(t testing.TB) (*rig, *album) {
	r := newRig(t)
	a := new(album)
	r.opt.OnScreen = a.show
	r.Session = tmux.New(r.opt)
	r.closeAtEnd()
	r.run("true")
	return r, a
}

func TestPictures(t *testing.T) {
	t.Parallel()
	r, a := newAlbum(t)
	r.run("printf '\\033[31mred\\033[m plain'; printf '\\n%s\\n' 漢字")
	if a.count() > 0 {
		t.Fatal("a picture without a watcher")
	}
	r.Watch([]string{r.Pane()})
	want := "\x1b[31mred\x1b[39m plain\n漢字"
	tmuxtest.Until(t, "the first picture", func() bool { _, text := a.last(); return strings.HasSuffix(text, want) })
	s, _ := a.last()
	if s.Pane != r.Pane() || s.W != 120 || s.H != 40 || len(s.Rows) != 40 || s.CursorX != 0 || s.CursorY != 4 || !s.CursorVisible {
		t.Errorf("picture %+v", s)
	}

	r.run("echo more; printf '\\033[?25l'; sleep 0.2")
	tmuxtest.Until(t, "the next picture", func() bool { _, text := a.last(); return strings.HasSuffix(text, "\nmore") })

	r.Watch(nil)
	r.run("echo perhaps seen") // by a picture that was being taken
	tmuxtest.Until(t, "the pane shows it", func() bool { return strings.Contains(r.screen(), "\nperhaps seen") })
	r.run("sleep 0.1; echo unseen")
	tmuxtest.Until(t, "the pane shows it", func() bool { return strings.Contains(r.screen(), "\nunseen") })
	if _, text := a.last(); strings.Contains(text, "\nunseen") {
		t.Error("a picture after the watcher left")
	}
}

// TestPicturesIdle: nothing runs while nothing prints.
func TestPicturesIdle(t *testing.T) {
	t.Parallel()
	r, a := newAlbum(t)
	r.Watch([]string{r.Pane()})
	tmuxtest.Until(t, "the first picture", func() bool { return a.count() > 0 })
	tmuxtest.Until(t, "300 ms without a picture, after those that were due", func() bool {
		before := a.count()
		<-time.After(300 * time.Millisecond)
		return a.count() == before
	})
}

// A pane is captured again after a change of its size, even if nothing prints.
func TestPictureOfAnotherSize(t *testing.T) {
	t.Parallel()
	r, a := newAlbum(t)
	r.Watch([]string{r.Pane()})
	for _, w := range []int{50, 30} {
		if did, err := r.Fit(t.Context(), "", w, 10); !did || err != nil {
			t.Fatal(did, err)
		}
		tmuxtest.Until(t, "a picture of the new size", func() bool { s, _ := a.last(); return s.W == w && s.H == 10 })
	}
}

// TestPicturesOfAFlood: at most 30 a second, the last one shows the end, and the flood is not delayed.
func TestPicturesOfAFlood(t *testing.T) {
	if testing.Short() {
		t.Skip("floods a real tmux")
	}
	t.Parallel()
	r, a := newAlbum(t)
	r.Watch([]string{r.Pane()})
	tmuxtest.Until(t, "the first picture", func() bool { return a.count() > 0 })
	at := time.Now()
	n := a.count()
	r.run("i=0; while [ $i -lt 20 ]; do seq 20000; sleep 0.05; i=$((i+1)); done; echo the end")
	took := time.Since(at)
	tmuxtest.Until(t, "the end is seen", func() bool { _, text := a.last(); return strings.HasSuffix(text, "\nthe end") })
	if n = a.count() - n; n < 2 || n > int(time.Since(at)/(30*time.Millisecond))+2 {
		t.Errorf("%d pictures in %v", n, took)
	}
}

// TestPicturesAfterLoss: pictures continue in the pane that replaces a lost one, and after our client was detached.
func TestPicturesAfterLoss(t *testing.T) {
	t.Parallel()
	r, a := newAlbum(t)
	r.Watch([]string{r.Pane()})
	r.srv.Tmux("detach-client", "-s", "=buddy-t")
	r.run("echo after detach")
	tmuxtest.Until(t, "a picture after detaching", func() bool { _, text := a.last(); return strings.HasSuffix(text, "\nafter detach") })
	if err := syscall.Kill(r.supervisor(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	tmuxtest.Until(t, "the loss is told", func() bool { return strings.HasSuffix(r.kinds(), "lost") })
	r.run("echo after loss")
	tmuxtest.Until(t, "a picture after the loss", func() bool { _, text := a.last(); return strings.HasSuffix(text, "\nafter loss") })
}

// BenchmarkPicture measures the time from printing a line to its picture, including the minimum gap between pictures.
func BenchmarkPicture(b *testing.B) {
	r, a := newAlbum(b)
	r.Watch([]string{r.Pane()})
	fifo := filepath.Join(r.dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		b.Fatal(err)
	}
	run := r.start(tmux.Spec{Command: "clear; while read x; do printf '\\r%s' $x; done <fifo"})
	f, err := os.OpenFile(fifo, os.O_WRONLY, 0)
	if err != nil {
		b.Fatal(err)
	}
	var took []time.Duration
	n := 0
	for b.Loop() {
		n++
		<-time.After(35 * time.Millisecond) // a new picture may be taken at once
		at := time.Now()
		if _, err := f.WriteString(itoa(n) + ".\n"); err != nil {
			b.Fatal(err)
		}
		for end := at.Add(time.Minute); ; {
			if _, text := a.last(); strings.HasPrefix(text, itoa(n)+".") {
				break
			}
			if time.Now().After(end) {
				b.Fatal("no picture")
			}
			<-time.After(100 * time.Microsecond)
		}
		took = append(took, time.Since(at))
	}
	_ = f.Close()
	if _, err := run.Wait(context.Background()); err != nil {
		b.Error(err)
	}
	reportMedian(b, took)
}
