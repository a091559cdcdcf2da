package durable_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	crand "crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io/fs"
	"math/big"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/model/modeltest"
	"buddy/durable"
)

// limit bounds each wait on a busy machine.
const limit = 2 * time.Minute

// field is a machine with a server, workers and their runs.
type field struct {
	t      *testing.T
	dir    string
	bin    string
	env    []string
	port   int
	server *exec.Cmd
	worker *exec.Cmd
	tls    []string // flags of the server
}

// start starts the server and a worker, with a model that a script plays.
func start(t *testing.T, script modeltest.Script, settings string) *field {
	t.Helper()
	return startWith(t, script, settings, nil)
}

// startWith is start with a certificate for the server; nil is none.
func startWith(t *testing.T, script modeltest.Script, settings string, certificate func(dir string)) *field {
	t.Helper()
	bin := os.Getenv("BUDDY_DURABLE_BIN")
	if bin == "" {
		t.Skip("make counterparts ONLY=durable runs this test: it needs the programs")
	}
	dir, err := os.MkdirTemp("", "b") // short, because the paths of sockets are limited
	if err != nil {
		t.Fatal(err)
	}
	f := &field{t: t, dir: dir, bin: bin, port: freePorts(t)}
	for _, name := range []string{"work", "home/.config/buddy"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	conf := fmt.Sprintf("%s\n[agent]\nmodel = \"test\"\n[models.test]\napi_base_url = %q\napi_key = \"\"\nmodel = \"test\"\ncontext_limit = 100000\n", settings, modeltest.Start(t, script).URL)
	if err := os.WriteFile(filepath.Join(dir, "home/.config/buddy/buddy.toml"), []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, e := range os.Environ() {
		if name, _, _ := strings.Cut(e, "="); name != "TMUX" && name != "TMUX_PANE" && !strings.HasPrefix(name, "BUDDY_") && !strings.HasPrefix(name, "XDG_") {
			f.env = append(f.env, e)
		}
	}
	f.env = append(f.env, "HOME="+dir+"/home", "XDG_RUNTIME_DIR="+dir, "BUDDY_TMUX_SOCKET="+dir+"/tmux", "PATH="+bin+":"+os.Getenv("PATH"), fmt.Sprintf("TEMPORAL_ADDRESS=127.0.0.1:%d", f.port))
	if certificate != nil {
		certificate(dir)
		f.tls = []string{"-cert", dir + "/cert.pem", "-key", dir + "/key.pem"}
		f.env = append(f.env, "TEMPORAL_TLS=true", "TEMPORAL_TLS_SERVER_CA_CERT_PATH="+dir+"/cert.pem")
	}
	f.startServer()
	f.startWorker()
	t.Cleanup(f.end)
	return f
}

// freePorts returns the first of nine ports in a row that are probably free.
func freePorts(t *testing.T) int {
	for port := 20000 + rand.IntN(10000); port < 40000; port += 10 {
		free := true
		for i := range 9 {
			l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port+i))
			if free = free && err == nil; err == nil {
				_ = l.Close()
			}
		}
		if free {
			return port
		}
	}
	t.Fatal("no free ports")
	return 0
}

func (f *field) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(f.bin, name), args...)
	cmd.Dir, cmd.Env = f.dir+"/work", f.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd
}

// background starts a program whose output goes to a file.
func (f *field) background(name string, args ...string) *exec.Cmd {
	f.t.Helper()
	cmd := f.command(name, args...)
	out, err := os.OpenFile(filepath.Join(f.dir, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		defer out.Close() //nolint:errcheck // the program has its own descriptor
		cmd.Stdout, cmd.Stderr = out, out
		err = cmd.Start()
	}
	if err != nil {
		f.t.Fatal(err)
	}
	return cmd
}

func (f *field) startServer() {
	f.t.Helper()
	f.server = f.background("durable-devserver", append([]string{"-file", f.dir + "/runs.db", "-port", fmt.Sprint(f.port)}, f.tls...)...)
	f.until("the server answers", func() bool { return f.command("buddy-runs", "list").Run() == nil })
}

func (f *field) startWorker() {
	f.t.Helper()
	f.worker = f.background("buddy-worker", "-max", "20", "-answers", "-label", "here")
}

func kill(cmd *exec.Cmd) {
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

// end kills everything that the test has started.
func (f *field) end() {
	kill(f.worker)
	kill(f.server)
	for _, host := range f.hosts() {
		_ = syscall.Kill(host, syscall.SIGKILL)
	}
	who := exec.Command("tmux", "-S", f.dir+"/tmux", "kill-server")
	who.Env = f.env
	_ = who.Run() // if it runs
	if f.t.Failed() {
		f.t.Logf("files are in %s", f.dir)
		return
	}
	_ = os.RemoveAll(f.dir)
}

// until waits for a condition.
func (f *field) until(what string, holds func() bool) {
	f.t.Helper()
	for end := time.Now().Add(limit); !holds(); time.Sleep(50 * time.Millisecond) { // other processes
		if time.Now().After(end) {
			out, _ := f.command("buddy-runs", "list", "--json").CombinedOutput()
			log, _ := os.ReadFile(f.dir + "/buddy-worker.log")
			f.t.Fatalf("not within %s: %s\n%s\n%s", limit, what, out, log)
		}
	}
}

// files returns the stored sessions' files with an extension.
func (f *field) files(ext string) (all []string) {
	_ = filepath.WalkDir(f.dir+"/home", func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ext) && strings.Contains(path, "/sessions/") {
			all = append(all, path)
		}
		return nil
	})
	return all
}

// hosts returns the processes of the running sessions.
func (f *field) hosts() (pids []int) {
	for _, path := range f.files(".host") {
		var noted struct {
			PID int `json:"pid"`
		}
		text, _ := os.ReadFile(path) // it may end now
		if json.Unmarshal(text, &noted) == nil && noted.PID > 1 {
			pids = append(pids, noted.PID)
		}
	}
	return pids
}

// listed is an entry of buddy runs list.
type listed struct {
	ID    string
	State string
	durable.Status
}

func (f *field) run(id string) (one listed) {
	out, _ := f.command("buddy-runs", "list", "--json").Output() // the server may be down
	for line := range strings.Lines(string(out)) {
		var l listed
		if json.Unmarshal([]byte(line), &l) == nil && l.ID == id {
			return l
		}
	}
	return one
}

// starts starts a run, as often as necessary.
func (f *field) starts(id, mode string) {
	f.t.Helper()
	f.until("run "+id+" is started", func() bool {
		return f.command("buddy-runs", "start", "-id", id, "-approve", mode, "-folder", f.dir+"/work", "-label", "here", "do "+id).Run() == nil
	})
}

// plays returns a model that runs one command for each prompt and then answers slowly.
func plays() modeltest.Script {
	var mu sync.Mutex
	calls := 0
	return func(req modeltest.Request) modeltest.Answer {
		slow := modeltest.Chunks{Bytes: 4, Every: 20 * time.Millisecond}
		for i := len(req.Messages) - 1; i >= 0 && req.Messages[i].Role != model.User; i-- {
			if req.Messages[i].Role == model.Tool {
				return modeltest.Answer{slow, modeltest.Text("It is done, and here is the whole answer.")}
			}
		}
		mu.Lock()
		defer mu.Unlock()
		calls++
		args, _ := json.Marshal(map[string]any{"command": fmt.Sprintf("echo call-%d >>ran; sleep 0.%d; echo out", calls, calls%9), "why": "to test", "risk": "low", "mutation": true, "privesc": false})
		return modeltest.Answer{slow, modeltest.Text("I will run it."), modeltest.Call{ID: fmt.Sprintf("call-%d", calls), Name: "run_shell", Arguments: string(args)}}
	}
}

// check verifies that each run has one prompt, one end and its whole answer, and that no command ran twice.
func (f *field) check(runs int) {
	f.t.Helper()
	ran, _ := os.ReadFile(f.dir + "/work/ran")
	lines := strings.Fields(string(ran))
	if slices.Sort(lines); len(slices.Compact(slices.Clone(lines))) != len(lines) {
		f.t.Errorf("commands ran twice: %v", lines)
	}
	files := f.files(".jsonl")
	if len(files) != runs {
		f.t.Errorf("%d sessions, want %d", len(files), runs)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			f.t.Fatal(err)
		}
		prompts, ends, said := 0, 0, ""
		for line := range bytes.Lines(text) {
			env, err := event.Decode(bytes.TrimSuffix(line, []byte("\n")))
			if err != nil {
				continue
			}
			switch p := env.Payload.(type) {
			case event.PromptSubmitted:
				prompts++
			case event.ModelMessage:
				said = p.Message.Content
			case event.ExchangeFinished:
				ends++
			}
		}
		if prompts != 1 || ends != 1 || !strings.HasSuffix(said, "the whole answer.") {
			f.t.Errorf("%s: %d prompts, %d ends, said %q", filepath.Base(path), prompts, ends, said)
		}
	}
}

// TestKills kills the worker, a host or the server at random instants while runs work.
func TestKills(t *testing.T) {
	const rounds, each = 25, 5 // with 100 instants
	f := start(t, plays(), "")
	kills := map[string]int{}
	for round := range rounds {
		ids := make([]string, each)
		for i := range ids {
			ids[i] = fmt.Sprintf("run-%d-%d", round, i)
			f.starts(ids[i], "all")
		}
		for range 4 {
			time.Sleep(time.Duration(rand.Int64N(int64(700 * time.Millisecond)))) // the instant of a kill
			switch victim := rand.IntN(8); {
			case victim == 0:
				kills["server"]++
				kill(f.server)
				f.startServer()
			case victim < 3:
				kills["worker"]++
				kill(f.worker)
				f.startWorker()
			default:
				if hosts := f.hosts(); len(hosts) > 0 {
					kills["host"]++
					_ = syscall.Kill(hosts[rand.IntN(len(hosts))], syscall.SIGKILL)
				}
			}
		}
		for _, id := range ids {
			f.until(id+" has completed", func() bool { return f.run(id).State == string(event.Completed) })
		}
	}
	f.check(rounds * each)
	t.Logf("kills: %v", kills)
}

// TestApproval answers an approval from another home, after its host and worker were killed.
func TestApproval(t *testing.T) {
	f := start(t, plays(), "[host]\nwithout_terminal = true\n")
	f.starts("asks", "ask")
	waiting := func() bool { return f.run("asks").State == "waits for approval" }
	f.until("it waits", waiting)
	if w := f.run("asks").Waits; len(w) != 1 || !strings.Contains(w[0].Text, "echo call-1 >>ran") {
		t.Errorf("waits for %+v", w)
	}
	first := f.run("asks").Waits
	for _, host := range f.hosts() {
		_ = syscall.Kill(host, syscall.SIGKILL)
	}
	kill(f.worker)
	f.startWorker()
	f.until("it waits again", func() bool {
		now := f.run("asks").Waits
		return len(f.hosts()) > 0 && len(now) == 1 && now[0].ID != first[0].ID
	})
	cmd := f.command("buddy-runs", "approve", "asks")
	cmd.Env = append(slices.Clone(f.env), "HOME="+t.TempDir())
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "--deny works without a terminal") {
		t.Errorf("%v %s", err, out)
	}
	cmd = f.command("buddy-runs", "approve", "asks", "--deny", "--reason", "not now")
	cmd.Env = append(slices.Clone(f.env), "HOME="+t.TempDir())
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "deny\n" {
		t.Errorf("%v %s", err, out)
	}
	f.until("it has ended", func() bool { return f.run("asks").State == string(event.Completed) })
	if _, err := os.Stat(f.dir + "/work/ran"); err == nil {
		t.Error("a denied command ran")
	}
}

// TestCancel cancels a run that works; without a worker nothing starts, and an answer is refused within seconds.
func TestCancel(t *testing.T) {
	f := start(t, plays(), "")
	f.starts("one", "ask")
	f.until("it waits", func() bool { return f.run("one").State == "waits for approval" })
	if out, err := f.command("buddy-runs", "cancel", "one").CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	f.until("it is cancelled", func() bool { return f.run("one").State == string(event.Cancelled) })
	f.starts("two", "ask")
	f.until("it waits", func() bool { return f.run("two").State == "waits for approval" })
	kill(f.worker)
	began := time.Now()
	out, err := f.command("buddy-runs", "approve", "two", "--deny").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "no worker answers") || time.Since(began) > 15*time.Second {
		t.Errorf("%v after %s: %s", err, time.Since(began), out)
	}
}

// TestLostSession fails a run whose session's file is gone, instead of starting its prompt again.
func TestLostSession(t *testing.T) {
	f := start(t, plays(), "")
	f.starts("lost", "ask")
	f.until("it waits", func() bool { return f.run("lost").State == "waits for approval" })
	for _, host := range f.hosts() {
		_ = syscall.Kill(host, syscall.SIGKILL)
	}
	kill(f.worker)
	for _, path := range f.files(".jsonl") {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	f.startWorker()
	f.until("it has failed", func() bool { return f.run("lost").State == string(event.Failed) })
	out, _ := f.command("buddy-runs", "show", "lost").CombinedOutput()
	if !strings.Contains(string(out), "starting it again could repeat its work") || len(f.files(".jsonl")) > 0 {
		t.Errorf("%s, sessions %v", out, f.files(".jsonl"))
	}
}

// TestStalledWorker lets a second worker of the same home take over from one that is stopped, and then wakes up the first
// one: both watch the session, and nothing happens twice.
func TestStalledWorker(t *testing.T) {
	f := start(t, plays(), "[host]\nwithout_terminal = true\n")
	f.starts("run", "ask")
	f.until("it waits", func() bool { return f.run("run").State == "waits for approval" })
	first := f.worker
	if err := first.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	defer kill(first)
	f.startWorker()
	f.until("the second worker answers", func() bool {
		return f.command("buddy-runs", "approve", "run", "--deny").Run() == nil
	})
	if err := first.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	f.until("it has ended", func() bool { return f.run("run").State == string(event.Completed) })
	f.check(1)
}

// TestTLS runs with a server that has a certificate of its own, and refuses clients that do not know it.
func TestTLS(t *testing.T) {
	f := startWith(t, plays(), "", func(dir string) { certify(t, dir) })
	f.starts("run", "all")
	f.until("it has ended", func() bool { return f.run("run").State == string(event.Completed) })
	f.check(1)
	cmd := f.command("buddy-runs", "list")
	cmd.Env = slices.DeleteFunc(slices.Clone(f.env), func(e string) bool { return strings.HasPrefix(e, "TEMPORAL_TLS") })
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "does not answer") {
		t.Errorf("without TLS: %v %s", err, out)
	}
}

// certify writes a certificate for 127.0.0.1 and its key.
func certify(t *testing.T, dir string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), crand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	about := &x509.Certificate{
		SerialNumber: big.NewInt(1), IsCA: true, BasicConstraintsValid: true, NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	cert, err := x509.CreateCertificate(crand.Reader, about, about, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: cert}, "key.pem": {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
