package seatbelt

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Mode is a sandbox for commands.
type Mode string

// The modes, by their displayed names.
const (
	ReadOnly  Mode = "read-only sandbox"
	Fenced    Mode = "sandbox"
	Networked Mode = "sandbox with network"
)

// canary is an action that commands try. A canary got through if any of its effects happened.
type canary struct {
	text   string // continues "a command …" or, with must, "a command could not …"
	script string // for bash
	modes  []Mode // nil: all
	needs  string // a program that the action needs

	makes  string // the file that it creates, below the test's folder
	prints string // its output
	meets  bool   // it connects to a listener
	kills  bool   // it ends the victim
	must   string // output if the action works, because a command that does nothing proves nothing
}

const (
	secretWord = "c4n4ry"
	ranWord    = "r4n"
)

var (
	readOnly = []Mode{ReadOnly}
	fenced   = []Mode{Fenced, Networked}
	offline  = []Mode{ReadOnly, Fenced}
)

// canaries lists the actions. Some work only on macOS: they need a program that exists only there.
var canaries = []canary{
	{text: "read a file of the workspace", script: `cat "$WORK/notes"`, must: "plain"},
	{text: "list the workspace", script: `ls "$WORK"`, must: "notes"},
	{text: "write to its temporary folder", script: `echo written >"$TMPDIR/f" && cat "$TMPDIR/f"`, must: "written"},
	{text: "write to /dev/null", script: `echo x >/dev/null && echo written`, must: "written"},
	{text: "end a process that it started", script: `sleep 30 & kill $! && wait $!; [ $? -gt 128 ] && echo ended`, must: "ended"},
	{text: "write to the workspace", script: `echo written >"$WORK/f" && cat "$WORK/f"`, modes: fenced, must: "written"},
	{text: "run a program of the workspace", script: `printf '#!/bin/sh\necho r4n\n' >"$WORK/p" && chmod 700 "$WORK/p" && "$WORK/p"`, modes: fenced, must: ranWord},

	{text: "wrote to the home folder", script: `echo x >"$HOME/made"`, makes: "home/made"},
	{text: "wrote to another folder", script: `echo x >"$OUT/made"`, makes: "out/made"},
	{text: "renamed a file of another folder", script: `mv "$OUT/old" "$OUT/new"`, makes: "out/new"},
	{text: "linked a file of another folder", script: `ln "$OUT/linked" "$TMPDIR/linked"`, makes: "tmp/linked"},
	{text: "wrote to the workspace", script: `echo x >"$WORK/made"`, modes: readOnly, makes: "work/made"},
	{text: "read a secret of the home folder", script: `cat "$HOME/.ssh/id_rsa"`, prints: secretWord},
	{text: "read a secret of the home folder by another name of the disk", script: `cat "/System/Volumes/Data$HOME/.ssh/id_rsa"`, needs: "sw_vers", prints: secretWord},
	{text: "read a secret of the home folder by its number", script: `set -- $(stat -f "%d %i" "$HOME/.ssh/id_rsa"); cat "/.vol/$1/$2"`, needs: "sw_vers", prints: secretWord},
	{text: "read a file of another folder", script: `cat "$OUT/secret"`, prints: secretWord},
	{text: "read a secret in the workspace", script: `cat "$WORK/.env"`, modes: readOnly, prints: secretWord},
	{text: "read a secret in the workspace by changing the case of its name", script: `cat "$WORK/.ENV"`, modes: readOnly, needs: "sw_vers", prints: secretWord},
	{text: "read a hidden file by changing the case of its name", script: `cat "$WORK/A/HIDDEN"`, modes: fenced, needs: "sw_vers", prints: secretWord},
	{text: "read a hidden file", script: `cat "$WORK/a/hidden"`, modes: fenced, prints: secretWord},
	{text: "read a hidden file by another name", script: `mv "$WORK/a" "$WORK/b"; cat "$WORK/b/hidden"; mv "$WORK/b" "$WORK/a"`, modes: fenced, prints: secretWord},
	{text: "linked a hidden file", script: `ln "$WORK/a/hidden" "$WORK/l"; cat "$WORK/l"`, modes: fenced, prints: secretWord},
	{text: "cloned a hidden file", script: `cp -cR "$WORK/a" "$WORK/c"; cat "$WORK/c/hidden"`, modes: fenced, needs: "sw_vers", prints: secretWord},
	{text: "moved the workspace away", script: `mv "$WORK" "$TMPDIR/work"; ls "$TMPDIR/work" && echo r4n; mv "$TMPDIR/work" "$WORK"`, modes: fenced, prints: ranWord},
	{text: "wrote a hook of git", script: `echo x >"$WORK/.git/hooks/made"`, modes: fenced, needs: "sw_vers", makes: "work/.git/hooks/made"},
	{text: "moved the repository away", script: `mv "$WORK/.git" "$WORK/g" && echo r4n; mv "$WORK/g" "$WORK/.git"`, modes: fenced, needs: "sw_vers", prints: ranWord},
	{text: "connected to a port of this machine", script: `exec 8<>"/dev/tcp/127.0.0.1/$PORT"`, modes: offline, meets: true},
	{text: "connected to a Unix socket", script: `perl -MSocket -e 'socket(S, PF_UNIX, SOCK_STREAM, 0); connect(S, pack_sockaddr_un($ENV{SOCK}))'`, needs: "perl", meets: true},
	{text: "ended a process that it did not start", script: `kill -9 "$VICTIM"`, kills: true},
	{text: "ran a program with the setuid bit", script: `ps -p $$ && echo r4n`, needs: "sw_vers", prints: ranWord},
	{text: "started a program through launchd", script: `launchctl submit -l "$LABEL" -- /usr/bin/touch "$OUT/launched"`, needs: "launchctl", makes: "out/launched"},
	{text: "opened an application", script: `open -g -j "$OUT/Open.app"`, needs: "open", makes: "out/Open.app/made"},
	{text: "sent an event to an application", script: `osascript -e 'tell application ((system attribute "OUT") & "/Script.app") to run'`, needs: "osascript", makes: "out/Script.app/made"},
	{text: "wrote settings through a service", script: `defaults write "$OUT/settings" a b`, needs: "defaults", makes: "out/settings.plist"},
}

// Holder is a sandbox, such as a box or a fence.
type Holder interface {
	Start(cmd *exec.Cmd) error
	Sweep(pid int) error
}

// World holds the folders in which canaries run, as real paths.
type World struct {
	Work   string   // the workspace
	Temp   string   // the folder for temporary files
	Hidden []string // in the workspace, hidden by the workspace sandbox
	Env    []string

	base      string
	listeners []net.Listener
	contacts  atomic.Int64
	victim    *exec.Cmd
	died      chan struct{} // closed when the victim has ended
}

// Trial describes a self-test of one mode.
type Trial struct {
	Mode Mode
	Path string // folders of programs
	Hold func(w *World, mode Mode) (Holder, error)

	later time.Duration // replaces laterTime
}

const (
	lineTime  = 10 * time.Second // per canary
	laterTime = 3 * time.Second  // for effects that other programs cause later
)

// Run runs all canaries and returns the problems in words: forbidden actions that worked, and allowed ones that failed.
// An error means that the test could not run.
func (t Trial) Run() (wrong []string, err error) {
	w, err := newWorld(t.Path)
	if err != nil {
		return nil, err
	}
	defer w.close()
	holder, err := t.Hold(w, t.Mode)
	if err != nil {
		return nil, err
	}
	var tried []canary
	for _, c := range canaries {
		if !c.in(t.Mode) || !has(t.Path, c.needs) {
			continue
		}
		through, err := w.try(c, holder)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.text, err)
		}
		switch {
		case through && c.must != "":
			wrong = append(wrong, "a command could not "+c.text)
		case through:
			wrong = append(wrong, "a command "+c.text)
		default:
			tried = append(tried, c)
		}
	}
	for _, c := range w.later(tried, cmp.Or(t.later, laterTime)) {
		wrong = append(wrong, "a command "+c.text)
	}
	return wrong, nil
}

func (c canary) in(mode Mode) bool {
	return c.modes == nil || slices.Contains(c.modes, mode)
}

// has reports whether a program is in one of the folders of a PATH.
func has(path, program string) bool {
	for _, dir := range filepath.SplitList(path) {
		if _, err := os.Stat(filepath.Join(dir, program)); err == nil {
			return true
		}
	}
	return program == ""
}

// newWorld creates the folders, a process and two listeners.
func newWorld(path string) (w *World, err error) {
	base, err := os.MkdirTemp("", "buddy-")
	if err != nil {
		return nil, err
	}
	if base, err = filepath.EvalSymlinks(base); err != nil {
		return nil, err
	}
	w = &World{base: base, Work: base + "/work", Temp: base + "/tmp", Hidden: []string{base + "/work/a/hidden"}, died: make(chan struct{})}
	defer func() {
		if err != nil {
			w.close()
		}
	}()
	for name, text := range map[string]string{
		"work/notes": "plain\n", "work/.env": secretWord, "work/a/hidden": secretWord, "work/.git/config": "", "work/.git/hooks/sample": "",
		"home/.ssh/id_rsa": secretWord, "out/old": "", "out/linked": "", "out/secret": secretWord, "tmp/": "",
	} {
		err = errors.Join(err, w.write(name, text, 0o600))
	}
	for _, app := range []string{"Open", "Script"} {
		err = errors.Join(err, w.application(app))
	}
	tcp, tcpErr := w.listen("tcp", "127.0.0.1:0")
	sock, sockErr := w.listen("unix", base+"/s")
	if err = errors.Join(err, tcpErr, sockErr); err != nil {
		return w, err
	}
	_, port, _ := net.SplitHostPort(tcp)
	w.victim = &exec.Cmd{Path: "/bin/sleep", Args: []string{"sleep", "600"}, SysProcAttr: &syscall.SysProcAttr{Setsid: true}}
	if err = w.victim.Start(); err != nil {
		w.victim = nil
		return w, err
	}
	go func() {
		_ = w.victim.Wait()
		close(w.died)
	}()
	w.Env = []string{
		"PATH=" + path, "HOME=" + base + "/home", "WORK=" + w.Work, "OUT=" + base + "/out", "TMPDIR=" + w.Temp, "PORT=" + port, "SOCK=" + sock,
		fmt.Sprint("VICTIM=", w.victim.Process.Pid), "LABEL=" + w.label(),
	}
	return w, nil
}

// label returns the name of the job that a command submits to launchd.
func (w *World) label() string { return filepath.Base(w.base) }

// write writes a file, or creates a folder if the name ends with a slash.
func (w *World) write(name, text string, mode os.FileMode) error {
	path := filepath.Join(w.base, name)
	if strings.HasSuffix(name, "/") {
		return os.MkdirAll(path, 0o700)
	}
	return errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), mode))
}

// application creates a macOS application without a window, which creates a file.
func (w *World) application(name string) error {
	dir := "out/" + name + ".app/"
	return errors.Join(
		w.write(dir+"Contents/MacOS/run", "#!/bin/sh\n/usr/bin/touch '"+filepath.Join(w.base, dir, "made")+"'\n", 0o700),
		w.write(dir+"Contents/Info.plist", `<plist version="1.0"><dict><key>CFBundleExecutable</key><string>run</string><key>CFBundleIdentifier</key><string>`+
			w.label()+"."+name+`</string><key>CFBundlePackageType</key><string>APPL</string><key>LSBackgroundOnly</key><true/></dict></plist>`, 0o600),
	)
}

// listen counts connections, and returns the address.
func (w *World) listen(network, address string) (string, error) {
	l, err := net.Listen(network, address)
	if err != nil {
		return "", err
	}
	w.listeners = append(w.listeners, l)
	go func() {
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			w.contacts.Add(1)
			_ = c.Close()
		}
	}()
	return l.Addr().String(), nil
}

// try runs a canary, and reports whether it got through. A canary with must gets through if its output lacks the text
// must.
func (w *World) try(c canary, holder Holder) (through bool, err error) {
	contacts := w.contacts.Load()
	output, err := w.run(c.script, holder)
	if err != nil {
		return false, err
	}
	if c.must != "" {
		return !strings.Contains(output, c.must), nil
	}
	if c.kills { // the kernel has sent the signal, and the process may need a moment
		select {
		case <-w.died:
			return true, nil
		case <-time.After(200 * time.Millisecond):
		}
	}
	if c.meets { // the listener may need a moment, too
		time.Sleep(50 * time.Millisecond)
	}
	return c.meets && w.contacts.Load() != contacts || c.prints != "" && strings.Contains(output, c.prints) || w.made(c), nil
}

// made reports whether the file of a canary exists.
func (w *World) made(c canary) bool {
	_, err := os.Lstat(filepath.Join(w.base, c.makes))
	return c.makes != "" && err == nil
}

// run runs a script in the sandbox and returns its output. As for a session's command, the shell starts first and then
// gets the script.
func (w *World) run(script string, holder Holder) (output string, err error) {
	ctx, stop := context.WithTimeout(context.Background(), lineTime)
	defer stop()
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, "/bin/bash")
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = w.Env, w.Work, &out, &out, time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	in, err := cmd.StdinPipe()
	if err != nil {
		return "", err
	}
	if err := holder.Start(cmd); err != nil {
		return "", err
	}
	_, _ = in.Write([]byte(script + "\n")) // fails if the shell has ended
	_ = in.Close()
	_ = cmd.Wait()
	return out.String(), holder.Sweep(cmd.Process.Pid)
}

// later returns those of the tried canaries whose files appear only after a while, because other programs create them.
func (w *World) later(tried []canary, limit time.Duration) (through []canary) {
	for until := time.Now().Add(limit); time.Now().Before(until) && len(through) == 0; time.Sleep(100 * time.Millisecond) {
		for _, c := range tried {
			if w.made(c) {
				through = append(through, c)
			}
		}
	}
	return through
}

// close ends the listeners and processes of the self-test and removes its files.
func (w *World) close() {
	for _, l := range w.listeners {
		_ = l.Close()
	}
	if w.victim != nil {
		_ = w.victim.Process.Kill()
		<-w.died
	}
	_ = exec.Command("/bin/launchctl", "remove", w.label()).Run() // the job exists only if a canary got through
	_ = os.RemoveAll(w.base)
}

// End ends the process group of a command.
func End(pid int) { _ = unix.Kill(-pid, unix.SIGKILL) }
