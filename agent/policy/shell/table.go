package shell

import "sync"

// specs is the table of the commands that only read, by name.
var specs = sync.OnceValue(func() map[string]*spec {
	m := make(map[string]*spec, 400)
	for _, list := range [][]spec{textTools, fileTools, systemTools, shellTools, gitTools, devTools, opsTools} {
		for i := range list {
			s := &list[i]
			s.compile()
			m[s.name] = s
		}
	}
	m["--version"] = &spec{name: "--version", flags: "--version", max: -1, why: "it prints its version"}
	m["--version"].compile()
	return m
})

// versioned are programs of which only --version is known to be read-only. Those that first
// load settings or programs from the folder are left out: yarn, mvn, pytest, rails.
var versioned = []string{
	"bash", "zsh", "sh", "fish", "node", "npm", "bun", "deno", "tsc", "python", "python3", "python2", "pip", "pip3",
	"uv", "ruff", "black", "mypy", "ruby", "gem", "perl", "php",
	"java", "javac", "rustc", "rustup", "cargo", "rustfmt", "clippy-driver", "gcc", "g++", "cc",
	"c++", "clang", "clang++", "cmake", "make", "gmake", "ninja", "meson", "ld", "go", "gofmt", "gopls", "golangci-lint",
	"gofumpt", "protoc", "terraform", "tofu", "helm", "docker", "podman", "nerdctl", "docker-compose", "kubectl",
	"minikube", "kind", "k9s", "aws", "gcloud", "az", "gh", "glab", "hub", "git", "git-lfs", "svn", "hg", "tmux", "screen",
	"vim", "nvim", "emacs", "nano", "code", "curl", "wget", "ssh", "rsync", "tar", "gzip", "zip", "unzip", "openssl", "gpg",
	"jq", "yq", "rg", "fd", "fzf", "bat", "sed", "awk", "gawk", "grep", "find", "less", "ls", "systemctl", "nginx", "apache2",
	"psql", "mysql", "sqlite3", "redis-cli", "redis-server", "mongod", "postgres", "swift", "dotnet", "elixir", "erl", "ghc",
	"nix", "brew", "apt", "apt-get", "dnf", "yum", "pacman", "snap", "flatpak", "shellcheck",
	"zig", "lua", "R", "julia", "env",
	"timeout", "nice", "xargs", "sort", "uname", "dpkg", "rpm", "buddy", "sudo",
}

// textTools filter text.
var textTools = []spec{
	{name: "cat", flags: "-AbeEnstTuv --show-all --number-nonblank --show-ends --number --squeeze-blank --show-tabs --show-nonprinting", takes: content, any: true, why: "it prints files"},
	{name: "tac", flags: "-b -r -s: --before --regex --separator:", takes: content, any: true, why: "it prints files"},
	{name: "rev", flags: "-0 --zero", takes: content, any: true, why: "it prints files"},
	{name: "nl", flags: "-b: -d: -f: -h: -i: -l: -n: -p -s: -v: -w: --body-numbering: --number-width: --number-format:", takes: content, any: true, why: "it prints files"},
	{name: "head", flags: "-n: -c: -qvz -# --lines: --bytes: --quiet --verbose --silent --zero-terminated", takes: content, any: true, prints: passes, why: "it prints the beginning of files"},
	{name: "tail", flags: "-n: -c: -fFqrvz -s: -# --lines: --bytes: --follow? --quiet --verbose --silent --pid: --retry --sleep-interval: --zero-terminated", takes: content, any: true, check: tailOperands, prints: passes, why: "it prints the end of files"},
	{name: "cut", flags: "-b: -c: -d: -f: -nsz --bytes: --characters: --delimiter: --fields: --only-delimited --complement --output-delimiter: --zero-terminated", takes: content, any: true, why: "it prints parts of lines"},
	{name: "paste", flags: "-d: -sz --delimiters: --serial --zero-terminated", takes: content, any: true, why: "it prints files side by side"},
	{name: "column", flags: "-c: -s: -o: -txnNeLRJ -H: -l: --table --separator: --output-separator: --fillrows --columns: --table-columns: --json", takes: content, any: true, why: "it prints files in columns"},
	{name: "fold", flags: "-bs -w: -# --bytes --spaces --width:", takes: content, any: true, why: "it prints files"},
	{name: "fmt", flags: "-cstu -w: -g: -p: -# --width: --goal: --split-only --uniform-spacing", takes: content, any: true, why: "it prints files"},
	{name: "expand", flags: "-i -t: --initial --tabs:", takes: content, any: true, why: "it prints files"},
	{name: "unexpand", flags: "-a -t: --all --first-only --tabs:", takes: content, any: true, why: "it prints files"},
	{name: "tr", flags: "-cCdst --complement --delete --squeeze-repeats --truncate-set1", any: true, why: "it changes characters on their way through"},
	{name: "wc", flags: "-clLmw --bytes --chars --lines --max-line-length --words --total:", takes: listed, prints: prints1, why: "it counts"},
	{name: "uniq", flags: "-cdDiuz -f: -s: -w: --count --repeated --unique --ignore-case --skip-fields: --skip-chars: --check-chars: --zero-terminated --all-repeated? --group?", takes: content, max: 1, prints: passes, why: "it drops lines that repeat"},
	{name: "sort", flags: "-bcCdfghimMnrRsuVz -k: -t: -S: --key: --field-separator: --numeric-sort --reverse --unique --human-numeric-sort --version-sort --general-numeric-sort --month-sort --ignore-case --ignore-leading-blanks --dictionary-order --stable --check? --zero-terminated --random-sort --sort: --parallel: --buffer-size: --merge --debug", takes: content, prints: passes, why: "it sorts lines"},
	{name: "shuf", flags: "-n: -i: -e -r -z --head-count: --input-range: --echo --repeat", takes: content, why: "it shuffles lines"},
	{name: "comm", flags: "-123iz --check-order --nocheck-order --output-delimiter: --total --zero-terminated", takes: content, any: true, why: "it compares files"},
	{name: "join", flags: "-a: -e: -i -j: -o: -t: -v: -1: -2: -z --ignore-case --header --check-order --nocheck-order", takes: content, any: true, why: "it joins lines of files"},
	{name: "diff", flags: "-abBcdeEiInNpqrstTuwyZ -C: -U: -W: -x: -X< -I: -F: -S: --unified? --context? --brief --side-by-side --recursive --new-file --ignore-all-space --ignore-space-change --ignore-blank-lines --ignore-case --color? --exclude: --width: --suppress-common-lines --text --strip-trailing-cr --minimal --report-identical-files --label: --no-dereference -L: --left-column", takes: content, any: true, check: diffFolders, why: "it compares files"},
	{name: "diff3", flags: "-aemxAETX3", takes: content, any: true, why: "it compares files"},
	{name: "cmp", flags: "-bls -i: -n: --print-bytes --verbose --silent --quiet --bytes: --ignore-initial:", takes: content, any: true, why: "it compares files"},
	{name: "grep", flags: grepFlags, takes: content, check: grepCheck, prints: grepPrints, why: "it searches files"},
	{name: "egrep", flags: grepFlags, takes: content, check: grepCheck, prints: grepPrints, why: "it searches files"},
	{name: "fgrep", flags: grepFlags, takes: content, check: grepCheck, prints: grepPrints, why: "it searches files"},
	{name: "zgrep", flags: "-ciwnvhHoqslELF -A: -B: -C: -e: -m:", takes: content, check: grepCheck, why: "it searches files"},
	{name: "rg", flags: rgFlags, takes: content, check: grepCheck, prints: grepPrints, why: "it searches files"},
	{name: "ag", flags: "-acilLnoqsSvwQFG: -A: -B: -C: -m: --nocolor --nogroup --go --js --python --hidden --ignore:", takes: content, check: grepCheck, why: "it searches files"},
	{name: "sed", flags: "-nErsuz -e: -l: --quiet --silent --regexp-extended --separate --unbuffered --null-data --expression: --posix --sandbox --debug", takes: content, check: sedCheck, why: "it prints lines of files, changed or chosen"},
	{name: "awk", flags: "-F: -v: --field-separator: --assign:", takes: content, check: awkCheck, why: "its program only prints"},
	{name: "gawk", flags: "-F: -v: --field-separator: --assign:", takes: content, check: awkCheck, why: "its program only prints"},
	{name: "mawk", flags: "-F: -v:", takes: content, check: awkCheck, why: "its program only prints"},
	{name: "jq", flags: "-rcesnSMCaj --raw-output --compact-output --exit-status --slurp --null-input --sort-keys --monochrome-output --color-output --ascii-output --join-output --tab --indent: --arg:: --argjson:: --raw-input -R --args --jsonargs --stream --seq", takes: content, check: jqCheck, why: "it prints parts of JSON"},
	{name: "yq", flags: "-rPCMN -o: -p: --output-format: --input-format: --raw-output --prettyPrint --no-colors --colors --unwrapScalar? -e", takes: content, check: jqCheck, why: "it prints parts of YAML"},
	{name: "xxd", flags: "-abeEipu -c: -g: -l: -s: -o: -n:", takes: content, max: 1, why: "it prints bytes"},
	{name: "hexdump", flags: "-bcCdovx -e: -n: -s:", takes: content, any: true, why: "it prints bytes"},
	{name: "hd", flags: "-v -n: -s:", takes: content, any: true, why: "it prints bytes"},
	{name: "od", flags: "-abcdfhilosxvB -A: -j: -N: -t: -w? -S: --address-radix: --skip-bytes: --read-bytes: --format: --width? --endian:", takes: content, any: true, why: "it prints bytes"},
	{name: "strings", flags: "-af -n: -t: -e: -o -# --all --bytes: --radix: --encoding:", takes: content, any: true, why: "it prints text in files"},
	{name: "base64", flags: "-dDi -w: -b: --decode --ignore-garbage --wrap:", takes: content, max: 1, why: "it encodes or decodes"},
	{name: "base32", flags: "-di -w: --decode --wrap:", takes: content, max: 1, why: "it encodes or decodes"},
	{name: "iconv", flags: "-f: -t: -c -l --from-code: --to-code: --list", takes: content, why: "it converts text"},
	{name: "seq", flags: "-w -s: -f: --separator: --format: --equal-width", any: true, why: "it prints numbers"},
	{name: "numfmt", flags: "--to: --from: --suffix: --padding: --field: --format: -d: --header? --grouping --round:", any: true, why: "it prints numbers"},
	{name: "factor", any: true, why: "it prints factors"},
	{name: "tsort", takes: content, any: true, why: "it sorts"},
	{name: "expr", raw: true, any: true, why: "it computes"},
	{name: "bat", flags: "-pnA -l: -r: --paging: --style: --plain --number --language: --line-range: --color: --decorations: --theme:", takes: content, check: batCheck, why: "it prints files"},
	{name: "batcat", flags: "-pnA -l: -r: --paging: --style: --plain --number --language: --line-range: --color:", takes: content, check: batCheck, why: "it prints files"},
	{name: "zcat", flags: "-f", takes: content, why: "it prints compressed files"},
	{name: "bzcat", takes: content, why: "it prints compressed files"},
	{name: "xzcat", takes: content, why: "it prints compressed files"},
	{name: "zstdcat", takes: content, why: "it prints compressed files"},
}

const grepFlags = "-EFGPivwxcLlqsohHnTzaIrRUbyZ -e: -A: -B: -C: -m: -d: -D: -# --regexp: --extended-regexp --fixed-strings --basic-regexp --perl-regexp " +
	"--ignore-case --no-ignore-case --invert-match --word-regexp --line-regexp --count --color? --colour? --files-with-matches --files-without-match " +
	"--max-count: --only-matching --quiet --silent --no-messages --with-filename --no-filename --line-number --byte-offset " +
	"--after-context: --before-context: --context: --text --binary-files: --include: --exclude: --exclude-dir: --recursive --dereference-recursive --null --line-buffered --label:"

const rgFlags = "-ivwxclqsoHhINnpuUFPSLa0. -e: -A: -B: -C: -g: -t: -T: -m: -d: -r: -E: -M: -j: -A: --regexp: --ignore-case --smart-case --case-sensitive " +
	"--invert-match --word-regexp --line-regexp --count --count-matches --files-with-matches --files-without-match --files --max-count: " +
	"--only-matching --quiet --with-filename --no-filename --line-number --no-line-number --heading --no-heading --column --no-column --color: --colors: " +
	"--after-context: --before-context: --context: --glob: --iglob: --type: --type-not: --type-list --hidden --no-ignore --no-ignore-vcs --unrestricted " +
	"--multiline --multiline-dotall --fixed-strings --pcre2 --json --stats --sort: --sortr: --max-depth: --max-columns: --vimgrep --pretty --trim --follow --text --null --replace: --no-messages --no-config --max-filesize: --passthru --debug"

// fileTools print metadata of files.
var fileTools = []spec{
	{name: "ls", flags: "-aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ1OTe@ -I: -w: --all --almost-all --author --escape --block-size: --ignore-backups --color? --directory --classify? --full-time --group-directories-first --no-group --human-readable --si --dereference --hide: --hyperlink? --inode --ignore: --kibibytes --format: --numeric-uid-gid --literal --indicator-style: --file-type --quote-name --reverse --recursive --size --sort: --time: --time-style: --width: --zero --context", takes: listed, any: true, prints: lsPrints, why: "it lists files"},
	{name: "dir", flags: "-alhR", takes: listed, any: true, why: "it lists files"},
	{name: "eza", flags: "-laAhRTtrdF1sg -L: -I: --tree --level: --long --all --git --icons? --color? --sort: --git-ignore --header --no-user --no-permissions", takes: listed, why: "it lists files"},
	{name: "exa", flags: "-laAhRTtrdF1sg -L: -I: --tree --level: --long --all --git --git-ignore --header", takes: listed, why: "it lists files"},
	{name: "tree", flags: "-adfFhilpsugDtrvcCnNqJX -L: -I: -P: --dirsfirst --noreport --gitignore --prune --charset: --filelimit: --du --si --inodes --device --matchdirs --ignore-case --filesfirst --sort:", takes: listed, why: "it lists files"},
	{name: "stat", flags: "-fLtxlnqrs -c: -f: --format: --printf: --file-system --dereference --terse", takes: listed, any: true, prints: prints1, why: "it tells facts about files"},
	{name: "file", flags: "-bhiLkNnprs0E -F: --brief --mime --mime-type --mime-encoding --dereference --no-dereference --separator: --extension", takes: listed, why: "it tells the type of files"},
	{name: "du", flags: "-0aAbcDgHhklLmPsSx -d: -I: -t: -B: -X< --all --apparent-size --bytes --total --max-depth: --human-readable --si --summarize --exclude: --one-file-system --threshold: --time? --block-size: --dereference --separate-dirs --inodes", takes: listed, why: "it measures files"},
	{name: "df", flags: "-aBbhHiIklmnPTtYx -t: -x: -B: --all --block-size: --human-readable --si --inodes --local --output? --portability --print-type --type: --exclude-type: --total", any: true, why: "it measures disks"},
	{name: "fd", flags: "-HIsiaLpFgul01q -e: -t: -d: -E: -S: -j: -c: --hidden --no-ignore --case-sensitive --ignore-case --glob --regex --fixed-strings --absolute-path --list-details --follow --full-path --max-depth: --min-depth: --type: --extension: --exclude: --size: --changed-within: --changed-before: --color: --max-results: --base-directory< --print0", takes: listed, why: "it lists files"},
	{name: "fdfind", flags: "-HIsiaLpFgul01q -e: -t: -d: -E: --hidden --no-ignore --type: --extension: --exclude: --max-depth:", takes: listed, why: "it lists files"},
	{name: "readlink", flags: "-femnqsvz --canonicalize --canonicalize-existing --canonicalize-missing --no-newline --quiet --verbose --zero", takes: listed, any: true, why: "it resolves paths"},
	{name: "realpath", flags: "-emLPqsz --canonicalize-existing --canonicalize-missing --logical --physical --quiet --relative-to: --relative-base: --no-symlinks --strip --zero", takes: listed, any: true, why: "it resolves paths"},
	{name: "basename", flags: "-az -s: --multiple --suffix: --zero", any: true, why: "it prints a part of a path"},
	{name: "dirname", flags: "-z --zero", any: true, why: "it prints a part of a path"},
	{name: "pathchk", flags: "-pP --portability", any: true, why: "it checks names"},
	{name: "md5sum", flags: sumFlags, takes: listed, any: true, why: "it prints checksums"},
	{name: "sha1sum", flags: sumFlags, takes: listed, any: true, why: "it prints checksums"},
	{name: "sha224sum", flags: sumFlags, takes: listed, any: true, why: "it prints checksums"},
	{name: "sha256sum", flags: sumFlags, takes: listed, any: true, why: "it prints checksums"},
	{name: "sha384sum", flags: sumFlags, takes: listed, any: true, why: "it prints checksums"},
	{name: "sha512sum", flags: sumFlags, takes: listed, any: true, why: "it prints checksums"},
	{name: "b2sum", flags: sumFlags, takes: listed, any: true, why: "it prints checksums"},
	{name: "shasum", flags: "-bctUw -a: --algorithm: --check --binary --text", takes: content, why: "it prints checksums"},
	{name: "md5", flags: "-qr", takes: content, why: "it prints checksums"},
	{name: "cksum", flags: "-a: --algorithm:", takes: content, any: true, why: "it prints checksums"},
	{name: "sum", flags: "-rs", takes: content, any: true, why: "it prints checksums"},
	{name: "tar", flags: "-tvzjJf< -C< --list --file< --verbose --gzip --bzip2 --xz --zstd --exclude: --wildcards --full-time --directory<", takes: content, check: tarCheck, why: "it lists an archive"},
	{name: "unzip", flags: "-lZvtq1", takes: content, check: unzipCheck, why: "it lists an archive"},
	{name: "zipinfo", flags: "-1stmlvhz", takes: content, why: "it lists an archive"},
	{name: "gzip", flags: "-lvt --list --verbose --test", takes: content, check: needs("-l", "-t", "--list", "--test"), why: "it lists an archive"},
	{name: "ar", flags: "-tv", takes: content, check: arCheck, why: "it lists an archive"},
	{name: "nm", flags: "-aACDglnopPrSuvUj --demangle? --defined-only --undefined-only --dynamic --extern-only --print-size --size-sort --numeric-sort", takes: content, why: "it lists symbols"},
	{name: "objdump", flags: "-aCdDfghHlprRsStTxw -j: -M: --demangle? --disassemble? --no-show-raw-insn --section: --headers --syms", takes: content, why: "it prints object files"},
	{name: "readelf", flags: "-aAdeghlnrsSuVW --all --file-header --program-headers --sections --symbols --dynamic --notes --wide", takes: content, why: "it prints object files"},
	{name: "size", flags: "-AB -d -o -x --format:", takes: content, why: "it prints sizes"},
	{name: "otool", flags: "-LlhDtv", takes: content, why: "it prints object files"},
	{name: "getfacl", flags: "-acentp", takes: listed, why: "it prints permissions"},
	{name: "lsattr", flags: "-adRv", takes: listed, why: "it prints attributes"},
	{name: "namei", flags: "-lmnovx --long", takes: listed, why: "it follows a path"},
	{name: "tokei", flags: "-f -s: -t: -e: --files --sort: --exclude:", takes: listed, why: "it counts lines"},
	{name: "scc", flags: "--by-file -i: -s: --no-complexity", takes: listed, why: "it counts lines"},
}

const sumFlags = "-bctwz --binary --check --tag --text --zero --ignore-missing --quiet --status --strict --warn -l: --length:"

// shellTools are builtins of the shell.
var shellTools = []spec{
	{name: "cd", flags: "-LP", check: cdCheck, why: "it changes only the folder of this shell"},
	{name: "pushd", flags: "-n", check: cdCheck, why: "it changes only the folder of this shell"},
	{name: "popd", max: -1, check: func(*analyser, *call) string { return "popd goes to a folder that is not known" }},
	{name: "pwd", flags: "-LP", max: -1, prints: commitName, why: "it prints the folder"},
	{name: "echo", raw: true, any: true, check: escapes, why: "it prints its words"},
	{name: "printf", raw: true, check: printfCheck, why: "it prints its words"},
	{name: "true", raw: true, any: true, takes: unseen, why: "it does nothing"},
	{name: "false", raw: true, any: true, takes: unseen, why: "it does nothing"},
	{name: ":", raw: true, any: true, takes: unseen, why: "it does nothing"},
	{name: "test", raw: true, any: true, takes: unseen, check: testCheck, why: "it tests"},
	{name: "[", raw: true, any: true, takes: unseen, check: testCheck, why: "it tests"},
	{name: "sleep", check: sleepCheck, why: "it waits"},
	{name: "exit", max: 1, check: numbersOnly, why: "it ends the shell"},
	{name: "return", max: 1, check: numbersOnly, why: "it ends a function"},
	{name: "break", max: 1, check: numbersOnly, why: "it ends a loop"},
	{name: "continue", max: 1, check: numbersOnly, why: "it goes on with a loop"},
	{name: "shift", max: 1, check: numbersOnly, why: "it drops a word"},
	{name: "wait", max: -1, why: "it waits"},
	{name: "times", max: -1, why: "it prints times"},
	{name: "jobs", flags: "-lprs", max: -1, why: "it lists jobs"},
	{name: "set", flags: "-euxvo:", check: setCheck, why: "it sets how this shell handles errors"},
	{name: "umask", flags: "-S", max: -1, why: "it prints the mask"},
	{name: "ulimit", flags: "-aSHcdefilmnpqrstuvx", max: -1, why: "it prints limits"},
	{name: "type", flags: "-aftpP", any: true, why: "it tells where a command is"},
	{name: "command", flags: "-vVp", check: needs("-v", "-V"), why: "it tells where a command is"},
	{name: "which", flags: "-as --all", any: true, prints: prints1Path, why: "it tells where a command is"},
	{name: "whereis", flags: "-bms", any: true, why: "it tells where a command is"},
	{name: "hash", max: -1, why: "it lists where commands are"},
	{name: "help", flags: "-dms", any: true, why: "it prints help"},
	{name: "whatis", any: true, why: "it prints help"},
	{name: "apropos", any: true, why: "it prints help"},
	{name: "man", flags: "-k -f", check: manCheck, why: "it prints help"},
	{name: "read", flags: "-rs -d: -n: -N: -a: -t:", check: readCheck, why: "it reads into a variable"},
	{name: "tty", flags: "-s", max: -1, why: "it names the terminal"},
}

// systemTools print facts about the machine.
var systemTools = []spec{
	{name: "uname", flags: "-amnoprsvi --all --kernel-name --nodename --kernel-release --machine --processor --operating-system", max: -1, why: "it tells about the machine"},
	{name: "arch", max: -1, why: "it tells about the machine"},
	{name: "hostname", flags: "-afdiIsAy --fqdn --short --ip-address --all-ip-addresses --long --domain", max: -1, why: "it tells about the machine"},
	{name: "hostnamectl", flags: "--json: --no-pager", check: words("", "status"), why: "it tells about the machine"},
	{name: "timedatectl", flags: "--no-pager --all", check: words("", "status", "show", "list-timezones", "timesync-status"), why: "it tells the time"},
	{name: "localectl", check: words("", "status", "list-locales"), why: "it tells about the machine"},
	{name: "loginctl", flags: "--no-pager", check: words("", "list-sessions", "list-users", "list-seats"), why: "it lists sessions"},
	{name: "date", flags: "-uRI? -d: -r< --date: --utc --universal --iso-8601? --rfc-3339: --rfc-2822 --rfc-email --reference<", check: dateCheck, prints: datePrints, why: "it prints the time"},
	{name: "cal", flags: "-3y1jmshA: -A: -B:", any: true, why: "it prints a calendar"},
	{name: "uptime", flags: "-ps --pretty --since", max: -1, why: "it tells about the machine"},
	{name: "nproc", flags: "--all --ignore:", max: -1, prints: prints1, why: "it counts processors"},
	{name: "lscpu", flags: "-abcexpJ --json --extended? --parse?", max: -1, why: "it tells about the machine"},
	{name: "lsmem", flags: "-aJb --json --summary?", max: -1, why: "it tells about the machine"},
	{name: "lsblk", flags: "-abdDfilmnpPrsStTJ -o: -e: -I: -x: --output: --json --fs --all --paths --list --tree", takes: noFiles, why: "it lists disks"},
	{name: "lspci", flags: "-vkntDmm -s: -d:", max: -1, why: "it lists devices"},
	{name: "lsusb", flags: "-vt -s: -d:", max: -1, why: "it lists devices"},
	{name: "lsmod", max: -1, why: "it lists modules"},
	{name: "modinfo", flags: "-adlpn -F: --field:", why: "it tells about a module"},
	{name: "lsb_release", flags: "-aidrcs --all --id --description --release --codename --short", max: -1, why: "it tells about the machine"},
	{name: "sw_vers", flags: "!productVersion !productName !buildVersion --productVersion", max: -1, why: "it tells about the machine"},
	{name: "free", flags: "-bkmghltvw -s: -c: --bytes --kilo --mega --giga --human --si --total --wide --lohi --seconds: --count:", max: -1, why: "it measures memory"},
	{name: "vmstat", flags: "-adDfimnstwS: -S:", check: numbersOnly, why: "it measures the machine"},
	{name: "iostat", flags: "-cdhkmNtxyz -p?", check: numbersOnly, why: "it measures the machine"},
	{name: "mpstat", flags: "-AP: -P: -u", check: numbersOnly, why: "it measures the machine"},
	{name: "ps", flags: "-AaCcdefFHjlLMmNTwyVZ -u: -U: -g: -G: -p: -q: -t: -C: -s: -o: -O: --forest --headers --no-headers --sort: --format: --pid: --ppid: --user: --cols: --columns: --width: --tty: --deselect", check: psCheck, why: "it lists processes"},
	{name: "pgrep", flags: "-afilnovwxc -u: -U: -g: -G: -P: -s: -t: -d: -r: --full --list-name --list-full --count --newest --oldest --exact --user: --parent: --delimiter: --ignore-case", why: "it lists processes"},
	{name: "pidof", flags: "-scxq -o:", why: "it lists processes"},
	{name: "pstree", flags: "-aAcglnpsStTuUhZ -H: -N:", why: "it lists processes"},
	{name: "pmap", flags: "-xXdq", check: numbersOnly, why: "it tells about a process"},
	{name: "top", flags: "-bcHiS -n: -d: -p: -u: -U: -o: -w: -l: -E: -e:", max: -1, check: needs("-b", "-l"), why: "it lists processes"},
	{name: "lsof", flags: "-abChlnNoOPRtUVXi? -p: -u: -c: -g: -d: -s? -F?", check: lsofCheck, why: "it lists open files"},
	{name: "fuser", flags: "-vaun:", takes: listed, why: "it lists who uses a file"},
	{name: "id", flags: "-agGnruzZ --group --groups --name --real --user", why: "it tells who one is"},
	{name: "whoami", max: -1, why: "it tells who one is"},
	{name: "logname", max: -1, why: "it tells who one is"},
	{name: "groups", why: "it tells who one is"},
	{name: "users", max: -1, why: "it tells who is there"},
	{name: "who", flags: "-abdHlmpqrstTu", max: 2, why: "it tells who is there"},
	{name: "w", flags: "-fhiosu", max: 1, why: "it tells who is there"},
	{name: "last", flags: "-adFiRwx -n: -s: -t: -#", why: "it tells who was there"},
	{name: "lastlog", flags: "-b: -t: -u:", max: -1, why: "it tells who was there"},
	{name: "getent", check: getentCheck, why: "it looks something up"},
	{name: "locale", flags: "-akm", why: "it tells about the language"},
	{name: "getconf", flags: "-a", why: "it tells about the machine"},
	{name: "findmnt", flags: "-abcDfiJklnPprRstuv -o: -t: -T: -S: -M: --json --output: --target: --df --list --raw", takes: noFiles, why: "it lists file systems"},
	{name: "mount", flags: "-l -t:", max: -1, why: "it lists file systems"},
	{name: "swapon", flags: "-s --show? --summary --bytes --noheadings", max: -1, check: needs("-s", "--show", "--summary"), why: "it lists swap"},
	{name: "dmesg", flags: "-dehHkLPqrtTuwWx -l: -f: --human --ctime --level: --facility: --follow --kernel --color? --nopager --since: --until: --reltime", max: -1, why: "it prints messages of the kernel"},
	{name: "sysctl", flags: "-aAeNnbr --all --names --values --pattern:", check: sysctlCheck, why: "it prints settings of the kernel"},
	{name: "ipcs", flags: "-amqstclpu", max: -1, why: "it lists shared memory"},
	{name: "lslocks", flags: "-Jnru -p: -o:", max: -1, why: "it lists locks"},
	{name: "lsns", flags: "-Jlnruw -p: -t: -o:", max: 1, why: "it lists namespaces"},
	{name: "nvidia-smi", flags: "-Lq -i: --query-gpu: --query-compute-apps: --format:", max: -1, why: "it tells about the graphics card"},
	{name: "sensors", flags: "-uAjf", max: -1, why: "it measures temperatures"},
	{name: "ip", flags: "-46sdhojpcNr !br !brief !json !details !stats !statistics !human !oneline !color? !family: -f:", check: ipCheck, why: "it tells about the network"},
	{name: "ss", flags: "-natulpxwemiosrHO460bZzT -f: -A: --numeric --all --listening --tcp --udp --processes --summary --unix --extended --options --ipv4 --ipv6 --no-header --info --memory --resolve --raw --query: --family:", takes: noFiles, why: "it lists connections"},
	{name: "netstat", flags: "-aAdeFginloprsStuvWwx46m -f: -I: -p: --all --numeric --listening --programs --tcp --udp --route --interfaces --statistics", takes: noFiles, max: 2, why: "it lists connections"},
	{name: "ifconfig", flags: "-alsv", max: 1, why: "it tells about the network"},
	{name: "route", flags: "-n -ee", max: -1, why: "it tells about the network"},
	{name: "arp", flags: "-an", max: 1, why: "it tells about the network"},
	{name: "iptables", flags: "-LSnvx -t: --line-numbers --list --list-rules --numeric --verbose", max: 1, check: needs("-L", "-S", "--list", "--list-rules"), why: "it lists rules"},
	{name: "crontab", flags: "-l", max: -1, check: needs("-l"), why: "it lists jobs"},
	{name: "atq", max: -1, why: "it lists jobs"},
}
