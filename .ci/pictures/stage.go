package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// stage is a terminal in its own tmux server, with a home folder and a small project.
type stage struct {
	buddy, url, theme string
	pen               *pen
	save              func(name string, p image.Image) error
	apart             bool // programs on the stage see no session of the developer

	dir  string
	env  []string    // of programs on the stage
	kept image.Image // a part of a picture
}

// step is one action of a scene.
type step func(s *stage) error

func (s *stage) steps(all ...step) error {
	for _, do := range all {
		if err := do(s); err != nil {
			return err
		}
	}
	return nil
}

// limit is the maximum wait for a text in a scene.
const limit = 60 * time.Second

// files are the project and the settings; %s in the settings are the theme and the model's address.
var files = map[string]string{
	"shop/go.mod":               "module shop\n\ngo 1.26\n",
	"shop/api.sh":               "while :; do echo \"GET /cart 200\"; sleep 1; done\n",
	"shop/worker.sh":            "while :; do echo \"mailed an order\"; sleep 1; done\n",
	"shop/assets.sh":            "while :; do echo \"rebuilt app.css\"; sleep 1; done\n",
	"shop/checkout/tax.go":      "package checkout\n\n// Tax returns the tax of a net price in cents.\nfunc Tax(cents int) int {\n\treturn cents * 19 / 100\n}\n\n// Gross is what a customer pays.\nfunc Gross(cents int) int {\n\treturn cents + Tax(cents)\n}\n",
	"shop/checkout/tax_test.go": "package checkout\n\nimport \"testing\"\n\nfunc TestTax(t *testing.T) {\n\tfor net, want := range map[int]int{100: 19, 10526: 2000, -10526: -2000} {\n\t\tif got := Tax(net); got != want {\n\t\t\tt.Errorf(\"Tax(%d) = %d, want %d\", net, got, want)\n\t\t}\n\t}\n}\n",
	".config/buddy/buddy.toml": "[agent]\nmodel = \"qwen\"\n\n[ui]\ntheme = \"%s\"\n\n[models.qwen]\nmodel = \"qwen3-coder\"\napi = \"completions\"\napi_base_url = \"%s/v1\"\n" +
		"api_key_env = \"PICTURES_KEY\"\ncontext_limit = 68000\nprice_input = 1.25\nprice_output = 10\n",
}

// open creates the files and starts a shell in tmux.
func (s *stage) open() (err error) {
	dir := filepath.Join(os.TempDir(), "ann") // always the same, because the pictures show it
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("%w; remove it if nobody takes pictures now", err)
	}
	s.dir = dir
	for name, text := range files {
		if strings.HasSuffix(name, ".toml") {
			text = fmt.Sprintf(text, s.theme, s.url)
		}
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			return err
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "bin"), 0o700); err != nil {
		return err
	}
	if err := os.Symlink(s.buddy, filepath.Join(dir, "bin", "buddy")); err != nil {
		return err
	}
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		return fmt.Errorf("go env GOCACHE: %w", err)
	}
	s.env = []string{
		"HOME=" + dir, "PATH=" + filepath.Join(dir, "bin") + ":" + os.Getenv("PATH"), "TERM=tmux-256color", "COLORTERM=truecolor",
		"LANG=C.UTF-8", "PS1=$ ", "GOCACHE=" + strings.TrimSpace(string(cache)), "BUDDY_TMUX_SOCKET=" + filepath.Join(dir, "buddy.sock"), "BUDDY_LOCAL_SERVERS=off", "PICTURES_KEY=none",
	}
	args := []string{"-f", "/dev/null", "new-session", "-d", "-x", fmt.Sprint(columns), "-y", fmt.Sprint(rows), "-c", filepath.Join(dir, "shop"), "env", "-i"}
	args = append(args, s.env...)
	if s.apart { // sessions are found by their sockets, which are in a folder per user
		if _, err := exec.LookPath("bwrap"); err != nil {
			return fmt.Errorf("bwrap is needed, which hides your own sessions: %w", err)
		}
		sockets := fmt.Sprintf("/tmp/buddy-%d", os.Getuid())
		args = append(args, "bwrap", "--dev-bind", "/", "/", "--tmpfs", sockets, "--unshare-pid", "--proc", "/proc", "--die-with-parent")
	}
	_, err = s.tmux(append(args, "sh")...)
	return err
}

// close ends the programs and removes the files. It leaves files that can't be removed to the system's cleaning of
// temporary files.
func (s *stage) close() {
	if s.dir == "" {
		return
	}
	for _, r := range s.running() {
		if r.Folder == filepath.Join(s.dir, "shop") { // otherwise the session is the developer's
			cmd := exec.Command(s.buddy, "stop", r.ID)
			cmd.Env = s.env
			_ = cmd.Run() // it may have ended by itself
		}
	}
	for _, name := range []string{"buddy.sock", "tmux.sock"} {
		if path := filepath.Join(s.dir, name); exists(path) {
			_ = exec.Command("tmux", "-S", path, "kill-server").Run() // it may have ended by itself
		}
	}
	_ = os.RemoveAll(s.dir)
}

// session is a running session on this machine.
type session struct{ ID, Folder string }

// running returns the running sessions, including the developer's own: hosts are found by their user.
func (s *stage) running() (all []session) {
	cmd := exec.Command(s.buddy, "ls", "--json")
	cmd.Env = s.env
	out, _ := cmd.Output() // an error means that none runs
	for line := range strings.Lines(string(out)) {
		var r session
		if json.Unmarshal([]byte(line), &r) == nil {
			all = append(all, r)
		}
	}
	return all
}

func exists(path string) bool { _, err := os.Stat(path); return err == nil }

// tmux runs a command in the stage's tmux server and returns its output.
func (s *stage) tmux(args ...string) (string, error) {
	cmd := exec.Command("tmux", append([]string{"-S", filepath.Join(s.dir, "tmux.sock")}, args...)...)
	cmd.Env = append(os.Environ(), "TMUX=")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("tmux %s: %w: %s", args[0], err, out)
	}
	return string(out), nil
}

// text returns the text on the terminal.
func (s *stage) text() string {
	out, _ := s.tmux("capture-pane", "-p") // empty if nothing runs
	return out
}

// start starts buddy and waits for its prompt.
func start(s *stage) error { return s.steps(typed("buddy"), waitFor("/ commands"), settle) }

// typed types a line.
func typed(line string) step {
	return func(s *stage) error {
		_, err := s.tmux("send-keys", "-l", line)
		if err == nil {
			_, err = s.tmux("send-keys", "Enter")
		}
		return err
	}
}

// send sends a prompt.
func send(prompt string) step { return typed(prompt) }

// keys presses keys by their names in tmux.
func keys(names ...string) step {
	return func(s *stage) error {
		_, err := s.tmux(append([]string{"send-keys"}, names...)...)
		return err
	}
}

// waitFor waits until a text is on the terminal.
func waitFor(text string) step {
	return func(s *stage) error {
		for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
			if strings.Contains(s.text(), text) {
				return nil
			}
		}
		return fmt.Errorf("%q did not show in %s", text, limit)
	}
}

// approve waits for an approval, of a command that contains text if text is not empty, and approves it.
func approve(text string) step {
	return func(s *stage) error {
		return s.steps(waitFor(text), waitFor("Run this command?"), settle, keys("y"), settle)
	}
}

// The screen counts as settled when nothing has changed for quiet, which is longer than a new approval ignores keys.
const quiet = 1500 * time.Millisecond

// settle waits until nothing changes any more except for running clocks.
func settle(s *stage) error {
	last, since := "", time.Now()
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		now := strings.Map(func(r rune) rune {
			if r >= '0' && r <= '9' || strings.ContainsRune("◐◓◑◒", r) {
				return '0'
			}
			return r
		}, s.text())
		if now != last {
			last, since = now, time.Now()
		}
		if time.Since(since) > quiet {
			return nil
		}
	}
	return fmt.Errorf("the screen did not settle in %s", limit)
}

// pause waits during an answer, which never settles.
func pause(*stage) error { time.Sleep(quiet); return nil }

// picture takes a picture of the terminal.
func picture(name string) step {
	return func(s *stage) error {
		p, err := s.shot()
		if err != nil {
			return err
		}
		return s.save(name, p)
	}
}

// part keeps the terminal's contents for join.
func part(s *stage) (err error) {
	s.kept, err = s.shot()
	return err
}

// join takes a picture of the kept contents, without empty rows, and of the present contents below.
func join(name string) step {
	return func(s *stage) error {
		p, err := s.shot()
		if err != nil {
			return err
		}
		return s.save(name, s.pen.below(s.kept, p))
	}
}

// shot draws the terminal's contents.
func (s *stage) shot() (image.Image, error) {
	text, err := s.tmux("capture-pane", "-peN")
	if err != nil {
		return nil, err
	}
	place, err := s.tmux("display-message", "-p", "#{cursor_x} #{cursor_y} #{cursor_flag}")
	if err != nil {
		return nil, err
	}
	var x, y, shows int
	if _, err := fmt.Sscan(place, &x, &y, &shows); err != nil {
		return nil, fmt.Errorf("where the cursor is: %w", err)
	}
	if shows == 0 {
		x = -1
	}
	return s.pen.draw(text, columns, rows, image.Pt(x, y)), nil
}
