// Command pictures takes the pictures of README.md and docs/: it plays a run with a scripted model in tmux, at a fixed
// size, and draws what the terminal shows. It is a module of its own, so that buddy needs nothing that only this needs.
//
//	go -C .ci/pictures run . -buddy ../../buddy -out ../../docs
package main

import (
	"flag"
	"fmt"
	"image"
	"os"
	"os/exec"
	"path/filepath"
)

const (
	columns = 120
	rows    = 32
)

func main() {
	buddy := flag.String("buddy", "../../buddy", "the program")
	out := flag.String("out", "../../docs", "where the pictures go")
	only := flag.String("only", "", "take this picture alone: screen, panes, palette or attach")
	font := flag.String("font", "/usr/share/fonts/truetype/dejavu", "the folder of DejaVuSansMono.ttf and DejaVuSansMono-Bold.ttf")
	theme := flag.String("theme", "dark", "the theme")
	flag.Parse()
	if err := run(*buddy, *out, *only, *font, *theme); err != nil {
		fmt.Fprintln(os.Stderr, "pictures:", err)
		os.Exit(1)
	}
}

// scenes are the runs; each takes pictures by name.
var scenes = []struct {
	name string
	play func(s *stage) error
}{
	{"screen", fix}, {"panes", servers}, {"palette", palette}, {"attach", attach},
}

func run(buddy, out, only, fonts, theme string) error {
	for _, program := range []string{"tmux", "go"} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("%s is needed: %w", program, err)
		}
	}
	buddy, err := filepath.Abs(buddy)
	if err != nil {
		return err
	}
	if _, err := os.Stat(buddy); err != nil {
		return fmt.Errorf("%w; make build makes it", err)
	}
	pen, err := newPen(fonts)
	if err != nil {
		return err
	}
	model, err := serve()
	if err != nil {
		return err
	}
	defer model.Close()
	for _, scene := range scenes {
		if only != "" && only != scene.name {
			continue
		}
		s := &stage{buddy: buddy, url: model.URL, theme: theme, pen: pen, save: func(name string, p image.Image) error { return save(filepath.Join(out, name+".png"), p) }}
		if err := s.open(); err != nil {
			s.close()
			return err
		}
		err := scene.play(s)
		if err != nil {
			err = fmt.Errorf("%s: %w; the screen shows\n%s", scene.name, err, s.text())
		}
		s.close()
		if err != nil {
			return err
		}
	}
	return nil
}

// fix is a failing test, its cause and the change, which is approved.
func fix(s *stage) error {
	return s.steps(
		start, send("why do the checkout tests fail?"), approve("go test"), waitFor("make the change"), settle,
		picture("approval"), keys("y"), approve("go test"), waitFor("passes."), settle, picture("screen"),
	)
}

// servers are three commands that stay beside the shared pane.
func servers(s *stage) error {
	return s.steps(
		start, send("start everything and watch it"), approve("sh api.sh"), approve("sh worker.sh"), approve("sh assets.sh"), waitFor("All three"), settle, picture("panes"),
	)
}

// palette is the list of commands.
func palette(s *stage) error {
	return s.steps(start, send("thanks"), waitFor("welcome"), settle, keys("F2"), settle, picture("palette"))
}

// attach is a session that goes on while nobody looks.
func attach(s *stage) error {
	return s.steps(
		alone, start, send("explain how checkout works"), waitFor("cents"), keys("C-\\"), waitFor("detached"), typed("buddy ls"), waitFor("explain how"), settle, part,
		typed("buddy attach"), waitFor("answering"), pause, join("attach"),
	)
}
