package secretfile

// row is one kind of file with secrets.
type row struct {
	// names are patterns of a part of a path, in lower case; * matches any text, and @ is a space.
	names string
	why   string
	// loose means that ordinary source files may have these names as well, so files with the ending of source code are
	// exempt.
	loose bool
}

// rows lists the names of files and folders that hold secrets. Everything below such a folder counts as well.
var rows = []row{
	{names: ".env .env.* .env-* .env_* .env~ .envrc .envrc.* .envs .flaskenv .dev.vars", why: "variables of a program, with its passwords"},
	{names: "*.env *.env.* *.env_* *.env-* env.local env.*.local env.prod* env.stag* env.dev env.development *.envrc", why: "variables of a program, with its passwords", loose: true},
	{names: "secret secrets .secret .secrets credentials .credentials creds .creds passwords private_keys private-keys api_keys api-keys apikeys", why: "a folder or file for secrets", loose: true},
	{names: "secrets.sh credentials.sh wp-config.php arduino_secrets.h secrets.h local_settings.py settings_local.py localsettings.php env.sh appsettings.production.json appsettings.prod.json google-services.json googleservice-info.plist", why: "a program's own secrets"},

	{names: "*.key *.pem *.p12 *.pfx *.p8 *.pk8 *.pvk *.priv *.private *_private *.ppk *.keytab krb5cc_*", why: "a private key"},
	{names: "id_rsa* id_ed25519* id_ecdsa* id_dsa* id_xmss* ssh_host_*_key *_rsa *_ed25519 *_ecdsa *_dsa deploy_key deploy-key *_private_key *-private-key .ssh", why: "an ssh key"},
	{names: "*.asc *.gpg *.pgp *.age *.minisign secring.* pubring.kbx trustdb.gpg .gnupg .password-store keys.txt key.txt *_key.txt *-key.txt", why: "a gpg or age key"},
	{names: "*.jks *.jceks *.bks *.keystore *.bcfks *.kdbx *.kdb *.keyring *.keychain *.keychain-db login.keychain* *.agilekeychain *.opvault *.1pux *.psafe3 *.wallet wallet.dat wallet.json utc--* .ethereum .bitcoin .electrum .lpass *.kwl keyrings kwalletd", why: "a key store"},
	{names: "keystore.properties key.properties signing.properties master.key *keystore*.properties", why: "passwords of a key store"},
	{names: "token .token *.token .token.* token.json token.txt tokens.txt *_token *-token *_token.txt *-token.txt *_token.json *-token.json .auth storage_state.json", why: "a token", loose: true},
	{names: "*.secret *.secrets *.cred *.creds *.credential *.passwd *.password pass.txt pwd.txt pw.txt login.txt logins.txt logins.csv rootkey.csv .*_key .*-key .*_pass", why: "a secret"},

	{names: "*.tfstate *.tfstate.* *.tfvars *.tfvars.json *.tfplan .terraformrc terraform.rc .terraform.d .pulumi", why: "terraform's state and variables, with passwords"},
	{names: "kubeconfig kubeconfig.* kubeconfig-* kubeconfig_* *.kubeconfig *-kubeconfig *_kubeconfig *kubeconfig.yaml *kubeconfig.yml .kube k3s.yaml talosconfig", why: "the login to a cluster", loose: true},
	{names: "vault.yml vault.yaml .vault-token .vault_pass* .vault-pass* vault_pass* vault-pass* *.vault", why: "a vault"},
	{names: "*firebase-adminsdk*.json *service_account*.json *service-account*.json *serviceaccount*.json gha-creds-*.json *-key.json *_key.json", why: "the key of a service account"},

	{names: ".aws .azure .oci .aliyun .bluemix .boto .gsutil .tailscale .snowflake .wandb .s3cfg .passwd-s3fs .databrickscfg .snowsql .modal.toml .ngrok2 .cloudflared .fly .netlify .vercel .railway .supabase .wrangler clouds.yaml openrc *-openrc.sh *_openrc.sh kaggle.json .cdsapirc .edgerc .dopplerrc .doppler .rclone.conf rclone.conf .mc .linode-cli", why: "the login to a cloud"},
	{names: ".npmrc .pypirc .dockercfg .docker .dockerconfigjson auth.toml auth.json pip.conf pip.ini .gemrc .pubrc .hex .chef settings-security.xml .condarc .nugetrc .upmconfig.toml", why: "the login to a registry"},
	{names: ".netrc _netrc .netrc.* .git-credentials .gitcredentials .sentryclirc .jira.d .rhosts .wgetrc .curlrc .hgrc .cvspass .vnc *.remmina .ftpconfig sftp-config.json sftp.json ftpsync.settings filezilla.xml sitemanager.xml recentservers.xml winscp.ini .remote-sync.json .smbcredentials .cifscredentials", why: "the login to a server"},
	{names: ".pgpass pgpass.conf .my.cnf .mylogin.cnf .mongorc.js .mongoshrc.js .cqlshrc", why: "the login to a database"},
	{names: ".msmtprc .esmtprc .fetchmailrc .getmailrc .mbsyncrc .offlineimaprc .muttrc .mutt .mailrc .authinfo .authinfo.* .davfs2 .irssi .weechat", why: "the login to mail or chat"},
	{names: ".htpasswd htpasswd .htdigest wpa_supplicant.conf .wpa_supplicant.conf .erlang.cookie *.ovpn wg0.conf wg1.conf *.nmconnection system-connections chap-secrets pap-secrets .xauthority .iceauthority", why: "passwords of the system or the network"},

	{names: ".claude.json .claude.json.* .aider.conf.yml .aider.conf.yaml .aider.input.history .aider.chat.history.md oauth_creds.json oauth_creds*.json google_accounts.json .sgptrc mcp-auth.json .codeium", why: "the login of another agent"},

	{names: "*_history *_history-*.tmp *.history .rhistory .dbshell .zsh_sessions .xonsh-history.json .histfile .history .zhistory .lesshst .viminfo consolehost_history.txt history.sqlite repl_history.jl .sh_history .recently-used.xbel", why: "typed text, perhaps with passwords"},
	{names: "cookies .cookies cookies.txt cookies.json cookies.sqlite cookies.sqlite-wal cookies.db cookies-journal cookiejar cookiejar.* cookie-jar cookie_jar .cookiejar *.cookies *.binarycookies logins.json logins-backup.json key3.db key4.db signons.sqlite formhistory.sqlite places.sqlite sessionstore*.jsonlz4 login@data web@data local@state", why: "a browser's logins", loose: true},
}

// paths lists folders and files by several parts of their paths, where no single name indicates secrets. A part *
// matches any.
var paths = []row{
	{names: ".config/buddy/buddy.toml .config/buddy/auth.json .config/agent/agent.toml .local/state/buddy library/application@support/buddy", why: "buddy's own keys"},
	{names: "etc/shadow etc/shadow- etc/gshadow etc/gshadow- etc/sudoers etc/sudoers.d etc/master.passwd etc/security/opasswd etc/ssl/private etc/pki/tls/private etc/ppp etc/wireguard etc/openvpn etc/netplan etc/sssd etc/letsencrypt etc/ipsec.secrets etc/kubernetes etc/rancher etc/networkmanager/system-connections var/lib/docker var/lib/sss var/db/dslocal var/lib/networkmanager var/lib/tailscale run/secrets", why: "passwords and keys of the system"},
	{names: "proc/*/environ proc/*/mem proc/*/auxv proc/*/task/*/environ proc/kcore proc/keys", why: "the variables and the memory of programs"},
	{names: ".config/gcloud .config/doctl .config/hcloud .config/scw .config/linode-cli .config/openstack .config/exoscale .config/configstore .config/.wrangler .config/netlify .config/stripe .config/ngrok .config/rclone .config/vercel .local/share/com.vercel.cli .config/heroku .config/aliyun .config/fly .config/flyctl .config/solana .config/wandb .config/tailscale .config/op .config/1password .config/sops .config/age .config/infisical .config/bitwarden@cli .config/lastpass", why: "the login to a cloud or a vault"},
	{names: ".config/gh .config/hub .config/glab-cli .config/tea .config/git/credentials .git/config .config/jira .config/sentry .config/circleci .circleci/cli.yml .config/helm .config/containers/auth.json .m2/settings.xml .gradle/gradle.properties .nuget/nuget.config .nuget/nuget .config/nuget .config/pypoetry/auth.toml .config/pip .config/composer .bundle/config .subversion/auth .helm/repository/repositories.yaml .cargo/credentials .cargo/credentials.toml .gem/credentials .dbt/profiles.yml .config/pulumi", why: "the login to a forge or a registry"},
	{names: ".continue/config.json .continue/config.yaml .claude/.credentials.json .claude/history.jsonl .claude/projects .claude/statsig .codex/auth.json .codex/history.jsonl .codex/sessions .gemini/.env .gemini/oauth_creds.json .gemini/tmp .qwen/oauth_creds.json .local/share/opencode .config/opencode/auth.json .config/github-copilot .copilot/config.json .config/cursor .cursor/auth.json .cursor/mcp.json user/globalstorage/state.vscdb user/globalstorage/state.vscdb.backup .config/amp .local/share/amp .config/goose .config/crush .local/share/crush .config/io.datasette.llm .config/shell_gpt .config/aichat .config/mods .cache/huggingface/token .huggingface/token .cache/huggingface/stored_tokens .config/windsurf .config/zed/conversations .kimi/credentials .config/openai .openai/auth .config/anthropic", why: "the login of another agent"},
	{names: ".mozilla .thunderbird .librewolf .waterfox .config/google-chrome .config/google-chrome-beta .config/chromium .config/bravesoftware .config/microsoft-edge .config/vivaldi .config/opera .config/slack .config/discord .config/signal .config/signal-desktop .config/weechat .config/remmina .local/share/remmina .putty/sessions .config/syncthing .local/state/syncthing .config/pulse/cookie .local/share/telegramdesktop snap/firefox snap/chromium .var/app/org.mozilla.firefox .var/app/com.google.chrome library/keychains library/cookies library/safari library/application@support/google/chrome library/application@support/firefox google/chrome/user@data default/network/cookies", why: "a browser's or a messenger's logins"},
	{names: ".local/share/keyrings .local/share/kwalletd .local/share/fish .local/share/atuin .config/nushell/history.txt .config/nushell/history.sqlite3 .jupyter/jupyter_server_config.json .jupyter/jupyter_notebook_config.json .local/share/mc/history .local/share/rubygems .ipython/profile_default/history.sqlite .julia/logs .config/joplin-desktop .local/share/recently-used.xbel", why: "key rings and histories"},
}

// words are parts of the names of files with secrets, with _, - and spaces removed. Source files are exempt. A word
// does not count where one of the words in the field but starts at the same position, such as "secretary".
var words = []struct {
	word string
	why  string
	but  string // words with another meaning, separated by spaces
}{
	{"secret", "its name says that it is secret", "secretar secretion secretor secretly secretive"},
	{"credential", "credentials", "credentialing credentialism"},
	{"passwd", "passwords", ""},
	{"password", "passwords", "passwordless"},
	{"passphrase", "a passphrase", ""},
	{"passwort", "passwords", ""},
	{"apikey", "keys of services", ""},
	{"privatekey", "a private key", ""},
	{"accesskey", "keys of services", ""},
	{"signingkey", "a private key", ""},
	{"encryptionkey", "a private key", ""},
	{"secretkey", "a private key", ""},
	{"accesstoken", "tokens", ""},
	{"refreshtoken", "tokens", ""},
	{"authtoken", "tokens", ""},
	{"oauthtoken", "tokens", ""},
	{"bearertoken", "tokens", ""},
	{"recoverycode", "codes for logging in", ""},
	{"backupcode", "codes for logging in", ""},
	{"recoverykey", "codes for logging in", ""},
	{"2facode", "codes for logging in", ""},
	{"totp", "codes for logging in", ""},
	{"bitwarden", "an export of passwords", ""},
	{"lastpass", "an export of passwords", ""},
	{"1password", "an export of passwords", ""},
	{"keepass", "an export of passwords", ""},
	{"seedphrase", "the key of a wallet", ""},
	{"mnemonic", "the key of a wallet", "mnemonics"},
}

// examples are words in the names of files that serve as examples to fill in.
var examples = []string{"example", "examples", "sample", "samples", "template", "templates", "tmpl", "tpl", "dist"}

// textFolders contain texts of programs and settings of CI, where a word in a file's name is the file's topic.
var textFolders = []string{"locales", "locale", "i18n", "l10n", "translations", "workflows"}

// sourceEndings are endings of source code and prose, where a word such as "secret" in a file's name is the file's
// topic.
var sourceEndings = []string{
	".go", ".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".svelte", ".astro", ".py", ".pyi", ".rs", ".c", ".h", ".cc", ".cpp", ".cxx", ".hpp",
	".hh", ".m", ".mm", ".java", ".kt", ".kts", ".scala", ".groovy", ".clj", ".cljs", ".rb", ".erb", ".php", ".cs", ".fs", ".vb", ".swift", ".dart", ".ex", ".exs", ".erl",
	".hs", ".ml", ".mli", ".elm", ".nim", ".zig", ".lua", ".pl", ".pm", ".r", ".jl", ".el", ".lisp", ".scm", ".sql", ".proto", ".graphql", ".gql", ".css", ".scss", ".sass",
	".less", ".html", ".htm", ".xhtml", ".svg", ".md", ".mdx", ".rst", ".adoc", ".tex", ".sh", ".bash", ".zsh", ".fish", ".ps1", ".bat", ".tf", ".nix", ".bzl", ".cmake",
	".mk", ".mod", ".sum", ".snap", ".screen", ".golden", ".log", ".po", ".pot", ".feature", ".ipynb", ".asm", ".s", ".y", ".sol", ".cr", ".hbs", ".ejs", ".pug", ".twig", ".jinja", ".j2",
}

// copies are endings of copies of a file; the name before them counts.
var copies = []string{"~", ".bak", ".backup", ".old", ".orig", ".save", ".saved", ".swp", ".swo", ".tmp", ".copy", ".prev", ".new", ".rej", ".gz", ".zip", ".xz", ".bz2", ".zst", ".tgz", ".enc"}

// freeNames are names that match a row but hold no secrets.
var freeNames = []string{
	"passwd", "*.pub", "*.pub.pem", "public.pem", "public-*.pem", "cacert.pem", "ca-bundle.pem", "ca-certificates.pem", "roots.pem", "fullchain.pem", "git_history", "cookies.d.ts",
	"secrets.schema.json", "*.schema.json", "changelog*",
}
