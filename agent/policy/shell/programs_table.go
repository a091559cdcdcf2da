package shell

// program is a row of the table of programs: the options that may precede the subcommand, and synonyms. Rules that ask
// or deny use it to match commands.
type program struct {
	name string
	// also lists other names of the program, separated by spaces.
	also string
	// valued lists options before or between the words of the subcommand that take the next word as their value.
	// Options in plain take no value; any other option may or may not.
	valued, plain string
	same          string // other words for a subcommand: "container rm=rm, del=delete"
	plus          bool   // a word that starts with + may come first: cargo +nightly
	short         bool   // subcommands can be abbreviated
	carries       string // subcommands that another command may follow; * is any
	hosts         bool   // words are host names, even without a scheme
	why           string // where this is documented, or why the row is needed
}

// programs lists the programs whose commands can be spelled in several ways.
var programs = []program{
	{
		name: "git", valued: "-C -c --git-dir --work-tree --namespace --super-prefix --config-env --exec-path --attr-source --list-cmds", plain: "-p -P --paginate --no-pager --bare --no-replace-objects --no-optional-locks --literal-pathspecs --no-lazy-fetch --no-advice",
		same: "send-pack=push, http-push=push, subtree push=push, lfs push=push, svn dcommit=push, p4 submit=push, fetch-pack=fetch, checkout-index=checkout, stage=add, branch -D=branch -d -f", carries: "run foreach", hosts: true, why: "git(1), OPTIONS; git-push(1) is the same program",
	},
	{
		name: "kubectl", also: "oc kubecolor", valued: "-n --namespace --context --cluster --user --kubeconfig -s --server --token --as --as-group --request-timeout -v --cache-dir --profile --certificate-authority --client-key --client-certificate --tls-server-name", plain: "--insecure-skip-tls-verify --match-server-version --warnings-as-errors -A",
		carries: "exec run", why: "kubectl options",
	},
	{
		name: "docker", also: "podman nerdctl docker-compose podman-compose", valued: "-H --host -c --context --config -l --log-level --tlscacert --tlscert --tlskey -f --file -p --project-name --profile --env-file --project-directory --url --connection --root --namespace -n", plain: "-D --debug --tls --tlsverify -r --remote",
		same: "container rm=rm, container remove=rm, container run=run, container exec=exec, container stop=stop, container kill=kill, container start=start, container restart=restart, container create=create, container cp=cp, container commit=commit, container attach=attach, " +
			"image rm=rmi, image remove=rmi, image pull=pull, image push=push, image build=build, builder build=build, buildx build=build, image load=load, image save=save, image import=import, image tag=tag, volume remove=volume rm, network remove=network rm",
		carries: "exec run compose", hosts: true, why: "docker(1): management commands and their short forms",
	},
	{name: "npm", also: "pnpm", valued: "-w --workspace --prefix -C --dir --registry --userconfig --globalconfig --cache --loglevel --tag --filter -F --otp --access", plain: "-g --global --workspaces -ws --include-workspace-root --silent -s --json -r --recursive", short: true, same: "i=install, in=install, ins=install, add=install, un=uninstall, unlink=uninstall, remove=uninstall, rm=uninstall, r=uninstall, t=test, tst=test, x=exec, run-script=run, up=update, upgrade=update, ln=link, c=config, rb=rebuild, unpub=unpublish", carries: "exec x dlx", why: "npm(1): aliases, and any clear abbreviation"},
	{name: "yarn", valued: "--cwd --registry --use-yarnrc --modules-folder", same: "workspace npm publish=npm publish, npm publish=publish", carries: "exec dlx", why: "yarn --help"},
	{name: "bun", valued: "--cwd --config -c --filter", same: "i=install, a=add, rm=remove, pm publish=publish", carries: "x", why: "bun --help"},
	{name: "pip", also: "pip3 pip2", valued: "--python --log --proxy --retries --timeout --exists-action --trusted-host --cert --client-cert --cache-dir --use-feature --use-deprecated --keyring-provider", plain: "--isolated --require-virtualenv -v --verbose -q --quiet --no-input --no-cache-dir --disable-pip-version-check --no-color --debug", why: "pip help, General Options"},
	{name: "python", also: "python3 python2", valued: "-W -X", plain: "-B -E -I -O -OO -P -s -S -u -v -x -q", why: "python --help"},
	{name: "uv", valued: "--directory --project --config-file --cache-dir -C --color --python -p --index-url", plain: "-q -v --offline --no-cache -n", carries: "run x", same: "tool run=x", why: "uv help"},
	{name: "cargo", valued: "--color --config -C -Z --explain --manifest-path", plain: "-v --verbose -q --quiet --locked --offline --frozen", plus: true, same: "b=build, c=check, d=doc, r=run, t=test, rm=remove", why: "cargo(1): +toolchain, aliases"},
	{name: "rustup", valued: "", plain: "-v -q --verbose --quiet", plus: true, carries: "run", why: "rustup(1)"},
	{name: "go", valued: "-C", why: "go help build: -C comes first"},
	{name: "terraform", also: "tofu terragrunt", valued: "-chdir", same: "apply -destroy=destroy", why: "terraform -help: -chdir=DIR"},
	{name: "helm", valued: "-n --namespace --kube-context --kubeconfig --kube-apiserver --kube-token --kube-as-user --kube-as-group --registry-config --repository-cache --repository-config --burst-limit --qps", plain: "--debug", same: "del=uninstall, delete=uninstall, un=uninstall, fetch=pull", why: "helm help"},
	{name: "aws", valued: "--profile --region --output --endpoint-url --query --ca-bundle --cli-read-timeout --cli-connect-timeout --color --cli-binary-format", plain: "--debug --no-verify-ssl --no-paginate --no-sign-request --no-cli-pager", why: "aws help, Global Options"},
	{name: "gcloud", valued: "--project --account --configuration --format --verbosity --billing-project --impersonate-service-account --access-token-file --flags-file --zone --region --filter", plain: "-q --quiet --no-user-output-enabled --log-http", same: "alpha=, beta=", why: "gcloud help"},
	{name: "gsutil", valued: "-o -h -u -i", plain: "-m -q -D -DD", why: "gsutil help options"},
	{name: "az", valued: "--subscription --output -o --query", plain: "--debug --verbose --only-show-errors", why: "az --help"},
	{name: "gh", valued: "-R --repo --hostname", why: "gh help"},
	{name: "glab", valued: "-R --repo -g --group", why: "glab help"},
	{name: "systemctl", valued: "-H --host -M --machine -t --type --state -p --property -P -s --signal -o --output -n --lines --root --image --job-mode --kill-whom --what -C --capsule", plain: "--user --system -f --force --now -q --quiet --no-block --no-ask-password --no-pager --no-wall -a --all -l --full -r -i --no-legend --runtime --global", why: "systemctl(1)"},
	{name: "service", plain: "--status-all --full-restart", why: "service(8)"},
	{name: "apt-get", also: "apt aptitude apt-cache", valued: "-o --option -c --config-file -t --target-release --default-release -a --host-architecture", plain: "-y --yes --assume-yes -q -qq --quiet -s --simulate --dry-run -f -d --download-only --purge --reinstall --no-install-recommends --allow-downgrades -V", same: "dist-upgrade=full-upgrade", why: "apt-get(8)"},
	{name: "dnf", also: "yum microdnf zypper", valued: "-c --config --setopt --enablerepo --disablerepo --repo --installroot --releasever -x --exclude -e -d", plain: "-y --assumeyes -q --quiet -v --best --allowerasing -C --cacheonly", same: "erase=remove, rm=remove, in=install, up=upgrade, update=upgrade, dup=dist-upgrade", why: "dnf(8), zypper(8)"},
	{name: "brew", plain: "-v --verbose -q --quiet -d --debug -f --force", same: "rm=uninstall, remove=uninstall, ln=link", why: "brew help"},
	{name: "apk", valued: "-p --root -X --repository --keys-dir --repositories-file --arch --wait --cache-dir", plain: "-q -v -i -U --no-cache --allow-untrusted", why: "apk(8)"},
	{name: "snap", plain: "--no-wait", why: "snap help"},
	{name: "flatpak", valued: "--installation --arch", plain: "-v --user --system", carries: "run", same: "remove=uninstall", why: "flatpak(1)"},
	{name: "nix", valued: "--option --store --extra-experimental-features -I", plain: "-v --offline --impure", carries: "shell develop run", why: "nix(1)"},
	{name: "tmux", valued: "-L -S -f -c -T", plain: "-2 -C -D -l -N -u -v", why: "tmux(1)"},
	{name: "ip", valued: "-n -netns -f -family -l -rcvbuf", plain: "-4 -6 -o -s -d -j -p -br -c", short: true, same: "a=addr, address=addr, l=link, r=route, ro=route, n=neigh, del=delete", why: "ip(8): any beginning of a word"},
	{name: "make", also: "gmake", valued: "-C -f -I -j -l -o -W --directory --file --makefile --include-dir --jobs --load-average --old-file --what-if", plain: "-B -d -e -i -k -n -p -q -r -R -s -S -t -w", why: "make(1)"},
	{name: "vagrant", valued: "--machine-readable", carries: "ssh", why: "vagrant help"},
	{name: "ansible", also: "ansible-playbook", valued: "-i -u -e -l -t -f -m -a --limit --tags", why: "ansible(1)"},
	{name: "heroku", valued: "-a --app -r --remote", carries: "run", why: "heroku help"},
	{name: "flyctl", also: "fly", valued: "-a --app -c --config -t --access-token", why: "fly help"},
	{name: "wrangler", valued: "-c --config -e --env --cwd", why: "wrangler --help"},
	{name: "firebase", valued: "-P --project --account -c --config", why: "firebase --help"},
	{name: "psql", valued: "-h --host -p -U -d -f -c", hosts: true, why: "psql(1)"},
	{name: "mysql", also: "mysqldump mariadb", valued: "-h --host -P -u -D", hosts: true, why: "mysql(1)"},
	{name: "redis-cli", valued: "-h -p -a -n -u", hosts: true, why: "redis-cli --help"},

	{name: "ssh", also: "curl wget aria2c http https xh autossh mosh sshpass ssh-copy-id ssh-keyscan scp sftp rsync rclone nc ncat netcat socat telnet ftp lftp tftp nmap ping ping6 dig nslookup host whois traceroute mtr openssl websocat grpcurl smbclient ldapsearch getent", hosts: true, why: "words are hosts, URLs without a scheme, host:file"},

	{name: "npx", also: "bunx pnpx uvx pipx dotenv wsl wsl.exe nsenter", carries: "*", why: "runs the program that follows"},
	{name: "poetry", valued: "-C --directory -P --project", carries: "run", why: "poetry run"},
	{name: "pipenv", also: "pdm hatch op", carries: "run", why: "pipenv run"},
	{name: "conda", also: "mamba micromamba", carries: "run", why: "conda run"},
	{name: "mise", also: "rtx", carries: "exec x", why: "mise exec"},
	{name: "lxc", also: "incus bundle direnv multipass", carries: "exec", why: "runs a command in a container or with other settings"},
	{name: "adb", also: "machinectl", carries: "shell", why: "runs a command on a device or in a container"},
	{name: "toolbox", also: "distrobox", carries: "run enter", why: "runs a command in a container"},
}

// sameOptions lists synonymous options by program, in groups of names: letters and long options, which may be
// abbreviated. An option in no group is compared as written.
var sameOptions = map[string]string{
	"rm": "r=R=recursive f=force d=dir no-preserve-root", "cp": "r=R=recursive f=force a=archive l=link s=symbolic-link", "mv": "f=force", "ln": "s=symbolic f=force",
	"chmod": "R=recursive", "chown": "R=recursive", "chgrp": "R=recursive", "shred": "f=force u=remove", "ls": "R=recursive a=all",
	"grep": "r=R=recursive=dereference-recursive f=file", "egrep": "r=R=recursive=dereference-recursive f=file", "fgrep": "r=R=recursive=dereference-recursive f=file",
	"sed": "i=in-place n=quiet=silent", "rsync": "r=recursive a=archive", "zip": "r=recurse-paths", "truncate": "s=size",
	"curl": "k=insecure o=output O=remote-name X=request d=data T=upload-file F=form", "wget": "O=output-document no-check-certificate",
	"git": "f=force d=delete no-verify", "docker": "f=force v=volumes privileged", "podman": "f=force v=volumes privileged", "npm": "g=global f=force", "pnpm": "g=global f=force",
	"apt": "y=yes=assume-yes", "apt-get": "y=yes=assume-yes", "dnf": "y=assumeyes", "yum": "y=assumeyes", "pip": "y=yes", "pip3": "y=yes", "kill": "s=signal", "userdel": "r=remove f=force",
}
