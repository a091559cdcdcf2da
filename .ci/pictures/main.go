// Command pictures takes the screenshots of README.md and docs/: it runs buddy with a scripted model in tmux, at a
// fixed size, and draws the terminal's contents. It is a separate module, so that buddy does not depend on its
// libraries.
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
	"strings"
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

// scenes are the runs; each takes named pictures. A scene that lists sessions is apart, because it must not show the
// developer's.
var scenes = []struct {
	name  string
	play  func(s *stage) error
	apart bool
}{
	{"screen", fix, false}, {"panes", servers, false}, {"palette", palette, false}, {"attach", attach, true},
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
	taken := 0
	for _, scene := range scenes {
		if only != "" && only != scene.name {
			continue
		}
		taken++
		s := &stage{buddy: buddy, url: model.URL, theme: theme, pen: pen, apart: scene.apart, save: func(name string, p image.Image) error { return save(filepath.Join(out, name+".png"), p) }}
		if err := s.open(); err != nil {
			s.close()
			return fmt.Errorf("%s: %w", scene.name, err)
		}
		err := scene.play(s)
		if err != nil {
			err = fmt.Errorf("%s: the screen shows\n%s\n%s: %w", scene.name, strings.TrimSpace(s.text()), scene.name, err) // the failure comes last
		}
		s.close()
		if err != nil {
			return err
		}
	}
	if taken == 0 {
		return fmt.Errorf("there is no picture %q; there are screen, panes, palette and attach", only)
	}
	return nil
}

// fix shows a failing test, its cause and the approved change.
func fix(s *stage) error {
	return s.steps(
		start, send("why do the checkout tests fail?"), approve("go test"), waitFor("Edit checkout/tax.go?"), settle,
		picture("approval"), keys("y"), approve("go test"), waitFor("passes."), settle, picture("screen"),
	)
}

// servers shows three commands in panes of their own.
func servers(s *stage) error {
	return s.steps(
		start, send("start everything and watch it"), approve("sh api.sh"), approve("sh worker.sh"), approve("sh assets.sh"), waitFor("All three"), settle, picture("panes"),
	)
}

// palette shows the list of commands.
func palette(s *stage) error {
	return s.steps(start, send("thanks"), waitFor("welcome"), settle, keys("F2"), settle, picture("palette"))
}

// attach shows a session that keeps running without a screen.
func attach(s *stage) error {
	return s.steps(
		waitFor("$"), start, send("explain how checkout works"), waitFor("cents"), keys("C-\\"), waitFor("Come back with"), typed("buddy ls"), waitFor("explain how"), settle, part,
		typed("buddy attach"), waitFor("Writing"), pause, join("attach"),
	)
}
