//go:build linux

package canarytest

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
)

// Programs returns n lines that run random programs: each tries to change a file in $OUT, to reach one of the sockets,
// or to harm the victim process. The same seed makes the same programs.
func Programs(seed uint64, n int) []Line {
	r := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // reproducible programs
	all := make([]Line, n)
	for i := range all {
		deeds := allDeeds[i%len(allDeeds)]
		all[i] = Line{Canary: deeds.canary, Needs: []string{deeds.language.program}, Text: deeds.program(r)}
	}
	return all
}

// deeds holds the ways in which one language can change one canary.
type deeds struct {
	canary   string
	language language
	ways     []string // P is an existing file, D its folder, S a signal
}

// language describes how to run a program.
type language struct {
	program string
	run     string   // before a program
	begin   string   // the start of each program
	around  []string // programs around a deed; the deed replaces X
}

// program returns a line that does one of the deeds. The deed is wrapped at random in other code of its language, and
// the program in shell code.
func (d deeds) program(r *rand.Rand) string {
	text := pick(r, d.ways)
	dir := pick(r, folders)
	for name, value := range map[string]string{"P": dir + "/f", "D": dir, "S": pick(r, []string{"1", "2", "9", "10", "12", "15", "19"})} {
		text = strings.ReplaceAll(text, "«"+name+"»", value)
	}
	for range r.IntN(3) {
		text = strings.ReplaceAll(pick(r, d.language.around), "«X»", indented(d.language, text))
	}
	line := fmt.Sprintf("%s \"$(echo %s | base64 -d)\"", d.language.run, encoded(d.language.begin+text))
	for range r.IntN(3) {
		line = strings.ReplaceAll(pick(r, shellAround), "«X»", encoded(line))
	}
	return line
}

func pick(r *rand.Rand, all []string) string { return all[r.IntN(len(all))] }

func encoded(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

// indented returns a program with each line indented by one tab, as part of another program.
func indented(l language, text string) string {
	if l.program != "python3" {
		return text
	}
	return strings.ReplaceAll(text, "\n", "\n\t")
}

// folders are names of the watched folder, as seen from the workspace.
var folders = []string{"../out", "../out/d/..", "../ws/../out", "/proc/self/cwd/../out", ".././/out/."}

// shellAround lists shell lines that run another shell line, whose base64 encoding replaces «X».
var shellAround = []string{
	`eval "$(echo «X» | base64 -d)"`,
	`( eval "$(echo «X» | base64 -d)" )`,
	`echo «X» | base64 -d | bash`,
	`{ eval "$(echo «X» | base64 -d)"; } & wait`,
	`setsid -w bash -c "$(echo «X» | base64 -d)"`,
	`timeout 20 bash -c "$(echo «X» | base64 -d)"`,
	`bash <(echo «X» | base64 -d)`,
	`echo «X» | xargs sh -c 'echo "$0" | base64 -d | bash'`,
	`find . -maxdepth 0 -exec sh -c 'echo «X» | base64 -d | bash' \;`,
	`awk 'BEGIN { system("echo «X» | base64 -d | bash") }'`,
	`perl -e 'system("echo «X» | base64 -d | bash")'`,
	`python3 -c 'import os; os.system("echo «X» | base64 -d | bash")'`,
	`git -c alias.x='!echo «X» | base64 -d | (cd "$GIT_PREFIX"; bash)' x`,
	`f=$(mktemp) && echo «X» | base64 -d >"$f" && chmod +x "$f" && bash "$f"`,
	`trap 'eval "$(echo «X» | base64 -d)"' EXIT; true`,
}

var python = language{
	program: "python3",
	run:     "python3 -c",
	begin:   "import base64, ctypes, http.client, mmap, os, resource, shutil, signal, socket, subprocess, sys, tempfile, threading\nc, e, V = ctypes.CDLL(None), os.environ, int(os.environ['VICTIM'])\n",
	around: []string{
		"«X»",
		"def f():\n\t«X»\nt = threading.Thread(target=f)\nt.start()\nt.join()",
		"p = os.fork()\nif p == 0:\n\t«X»\n\tos._exit(0)\nos.waitpid(p, 0)",
		"p = os.fork()\nif p == 0:\n\tos.setsid()\n\tif os.fork() == 0:\n\t\tpass\n\t«X»\n\tos._exit(0)\nos.waitpid(p, 0)",
		"def g(*_):\n\t«X»\nsignal.signal(signal.SIGUSR1, g)\nos.kill(os.getpid(), signal.SIGUSR1)",
		"try:\n\traise ValueError\nexcept ValueError:\n\t«X»",
		"class A:\n\tdef __del__(self):\n\t\tpass\nfor _ in [1]:\n\t«X»",
		"os.environ.pop('LD_PRELOAD', None)\nif os.umask(0) >= 0:\n\t«X»",
	},
}

var perl = language{
	program: "perl",
	run:     "perl -e",
	begin:   "use Socket; use IO::Socket::INET; use IO::Socket::UNIX; $V = $ENV{VICTIM};\n",
	around:  []string{"«X»", "if (!fork) { «X»; exit 0 } wait;", "eval { «X»; 1 };", "$SIG{USR1} = sub { «X»; }; kill USR1 => $$;", "sub f { «X»; } f();", "if (!fork) { if (!fork) { «X»; exit 0 } wait; exit 0 } wait;"},
}

var bash = language{
	program: "bash",
	run:     "bash -c",
	around:  []string{"«X»", "( «X» )", "f() { «X»; }; f", "{ «X»; } & wait", "exec 9</dev/null; «X»", "for i in 1; do «X»; done", "coproc { «X»; }; wait"},
}

var allDeeds = []deeds{
	{"file", python, []string{
		"open('«P»', 'a').write('x')", "os.close(os.open('«P»', os.O_WRONLY | os.O_TRUNC))", "os.close(os.open('«D»/n', os.O_CREAT | os.O_RDONLY))", "os.truncate('«P»', 1)", "os.unlink('«P»')",
		"os.rename('«P»', '«P»2')", "os.link('«P»', '«P»2')", "os.symlink('x', '«P»2')", "os.mkdir('«P»2')", "os.mkfifo('«P»2')", "os.chmod('«P»', 0o777)", "os.utime('«P»', (1, 1))", "os.rmdir('«D»/e')",
		"f = open('«P»', 'r+b')\nmmap.mmap(f.fileno(), 0)[0] = 88", "tempfile.mkstemp(dir='«D»')", "shutil.copy('f1', '«D»')", "shutil.rmtree('«D»/d')", "socket.socket(socket.AF_UNIX).bind('«P»2')",
		"d = os.open('«D»', os.O_RDONLY)\nos.close(os.open('n', os.O_CREAT | os.O_WRONLY, dir_fd=d))", "os.chdir('«D»')\nopen('n', 'w')", "c.creat(b'«D»/n', 0o600)", "c.rename(b'«P»', b'«P»2')", "c.renameat2(-100, b'«P»', -100, b'«D»/d/g', 2)",
		"c.linkat(-100, b'«P»', -100, b'«D»/l2', 0x400)", "c.mknod(b'«D»/n', 0o100600, 0)", "c.truncate(b'«P»', 1)", "c.fallocate(os.open('«P»', os.O_RDWR), 0, 0, 99)", "c.fchmodat(-100, b'«P»', 0o777, 0)",
		"subprocess.run(['tee', '«D»/n'], stdin=subprocess.DEVNULL)", "subprocess.run('echo x >>«P»', shell=True)", "subprocess.Popen(['touch', 'n'], cwd='«D»').wait()", "os.posix_spawnp('rm', ['rm', '«P»'], e)\nos.wait()",
	}},
	{"net", python, []string{
		"socket.create_connection(('127.0.0.1', int(e['TCP'])))", "socket.create_connection(('localhost', int(e['TCP'])))", "socket.create_connection(('0.0.0.0', int(e['TCP'])))", "socket.socket(socket.AF_INET6).connect(('::ffff:127.0.0.1', int(e['TCP'])))",
		"socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', int(e['UDP'])))", "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\ns.connect(('127.1', int(e['UDP'])))\ns.send(b'x')",
		"socket.socket(socket.AF_UNIX).connect(e['SOCK'])", "socket.socket(socket.AF_UNIX).connect('\\0' + e['ABSTRACT'])", "socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'x', e['DGRAM'])", "socket.socket(socket.AF_UNIX).connect('../s')",
		"http.client.HTTPConnection('127.0.0.1', int(e['TCP'])).connect()", "s = socket.socket()\ns.setblocking(False)\ns.connect_ex(('127.0.0.1', int(e['TCP'])))\ns.setblocking(True)\ns.recv(1)",
		"socket.socket().sendmsg([b'x'], [], 0x20000000, ('127.0.0.1', int(e['TCP'])))", "os.chdir('..')\nsocket.socket(socket.AF_UNIX).connect('s')",
	}},
	{"victim", python, []string{
		"os.kill(V, «S»)", "os.killpg(V, «S»)", "signal.pidfd_send_signal(os.pidfd_open(V), «S»)", "c.kill(V, «S»)", "c.killpg(V, «S»)", "c.sigqueue(V, «S», 0)", "os.setpriority(os.PRIO_PROCESS, V, 5)", "os.setpriority(os.PRIO_PGRP, V, 7)",
		"resource.prlimit(V, resource.RLIMIT_NOFILE, (10, 10))", "open('/proc/%d/oom_score_adj' % V, 'w').write('500')", "open('/proc/%d/coredump_filter' % V, 'w').write('1')", "os.sched_setscheduler(V, os.SCHED_BATCH, os.sched_param(0))",
		"subprocess.run(['kill', '-«S»', str(V)])", "subprocess.run(['renice', '5', str(V)])", "subprocess.run('kill -«S» $VICTIM', shell=True)",
	}},
	{"file", perl, []string{
		"open(F, '>>', '«P»'); print F 'x'; close F", "unlink '«P»'", "rename '«P»', '«P»2'", "truncate '«P»', 1", "chmod 0777, '«P»'", "mkdir '«P»2'", "symlink 'x', '«P»2'", "link '«P»', '«P»2'", "utime 1, 1, '«P»'", "open(F, '|-', 'tee «D»/n'); close F", "system 'cp f1 «D»'", "rmdir '«D»/e'",
	}},
	{"net", perl, []string{
		"IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $ENV{TCP})", "IO::Socket::UNIX->new(Peer => $ENV{SOCK})", "IO::Socket::INET->new(Proto => 'udp', PeerAddr => '127.0.0.1', PeerPort => $ENV{UDP})->send('x')",
		"socket(S, PF_UNIX, SOCK_STREAM, 0); connect(S, pack_sockaddr_un(qq(\\0$ENV{ABSTRACT})))", "socket(S, PF_UNIX, SOCK_DGRAM, 0); send(S, 'x', 0, pack_sockaddr_un($ENV{DGRAM}))", "socket(S, PF_INET, SOCK_STREAM, 6); connect(S, pack_sockaddr_in($ENV{TCP}, inet_aton('127.0.0.2')))",
	}},
	{"victim", perl, []string{"kill «S», $V", "kill -«S», $V", "kill(«S», $V+0)", "setpriority(0, $V, 5)", "system qq(kill -«S» $V)", "exec 'kill', '-«S»', $V"}},
	{"file", bash, []string{"echo x >>«P»", ": >«P»", "rm «P»", "ln «P» «D»/n", "mkdir «D»/n", "touch «P»", "cp f1 «D»", "mv «P» «D»/n", "exec 8<>«P»; echo y >&8", "sed -i s/k/l/ «P»", "dd if=f1 of=«P» status=none", "tar cf «D»/n.tar f1", "printf x | tee -a «P»", "install f1 «D»/n"}},
	{"net", bash, []string{"exec 8<>/dev/tcp/127.0.0.1/$TCP", "echo x >/dev/udp/127.0.0.1/$UDP", "exec 8<>/dev/tcp/localhost/$TCP", "curl -sm 5 http://127.0.0.1:$TCP/", "curl -sm 5 --unix-socket $SOCK http://x/", "curl -sm 5 --abstract-unix-socket $ABSTRACT http://x/"}},
	{"victim", bash, []string{"kill -«S» $VICTIM", "kill -«S» -- -$VICTIM", "/bin/kill -«S» $VICTIM", "renice 5 $VICTIM", "prlimit --pid $VICTIM --nofile=10", "taskset -p 1 $VICTIM", "echo 500 >/proc/$VICTIM/oom_score_adj", "chrt -b -p 0 $VICTIM", "ionice -c 3 -p $VICTIM", "exec kill -«S» $VICTIM"}},
}
