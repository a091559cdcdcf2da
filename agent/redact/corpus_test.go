package redact

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// notations holds texts with secrets between « and »: exactly these must be replaced by marks.
var notations = []string{
	// Shells and settings.
	"DB_PASSWORD=«hunter2xy»", "export DB_PASSWORD=«hunter2xy»", `export DB_PASSWORD="«hunter2xy»"`, "export DB_PASSWORD='«hunter2xy»'",
	"set -x SMTP_PASS «»", "MYSQL_PWD=«s3cr3t-Pw»", "PGPASSWORD=«pg-Pass1» psql -h db", "API_KEY=«a1b2c3d4e5»", "STRIPE_SECRET=«a1b2c3d4e5f6»",
	"GITHUB_TOKEN=«0123456789abcdef0123»", "DB_PASSWORD_PROD=«hunter2xy»", "DB_PASSWORD_2=«hunter2xy»", "  - DB_PASSWORD=«hunter2xy»",
	`ENV APP_SECRET="«hunter2xy99»"`, "ENV APP_SECRET=«hunter2xy99»", "docker run -e POSTGRES_PASSWORD=«hunter2xy» db", "docker run --env 'TOKEN=«a1b2c3d4e5»' x",
	`"Env": ["DB_PASSWORD=«hunter2xy»", "A=b"]`, "password = «hunter2xy»", `password = "«hunter2xy»"`, "password=«hunter2xy»", "spring.datasource.password=«hunter2xy»",
	"[client]\npassword=«hunter2xy»\nuser=ann", "requirepass: x\nauth_token = «a1B2c3D4e5F6g7H8»\n", "secret_key = '«a1B2c3D4e5F6g7H8»'", "session_secret=«a1B2c3D4e5F6g7H8»",
	// JSON and YAML.
	`{"password": "«hunter2xy»"}`, `{"password":"«hunter2xy»","user":"ann"}`, `{"dbPassword" : "«hunter2!»"}`, `{"apiKey": "«a1B2c3D4e5F6g7H8»"}`,
	`{\"password\": \"«hunter2xy»\"}`, `{"log":"{\"apiKey\":\"«a1B2c3D4e5F6g7H8»\"}"}`, `{"client_secret": "«a1B2-c3D4_e5F6~g7H8»"}`, `{"access_token":"«a1B2c3D4e5F6g7H8»","token_type":"bearer"}`,
	`{"auth": "«YW5uOmh1bnRlcjI=»"}`, `{"refreshToken": "«0a1b2c3d4e5f67890a1b»"}`, `{"name": "DB_PASSWORD", "value": "«hunter2xy»"}`, `{"name":"API_TOKEN","value":"«a1B2c3D4e5F6g7H8»"}`,
	"password: «hunter2xy»", "password: «hunter2xy» # of ann", `password: "«hunter2xy»"`, "password: '«hunter2xy»'", `"password": «hunter2xy»`, "db:\n  password: «hunter2xy»\n  user: ann",
	"- name: DB_PASSWORD\n  value: «hunter2xy»\n", "- name: DB_PASSWORD\n  value: \"«hunter2xy»\"\n", "data:\n  password: «aHVudGVyMnh5eno=»\n  user: YW5u", "data:\n  api-token: «YTFCMmMzRDRlNUY2ZzdIOA==»\n",
	"stringData:\n  token: «a1B2c3D4e5F6g7H8»\n", "clientSecret: «a1B2c3D4e5F6g7H8»\n", "secretKey:   '«a1B2c3D4e5F6g7H8»'",
	// Markup.
	"<password>«hunter2xy»</password>", "<apiKey>«a1B2c3D4e5F6g7H8»</apiKey>", `<add key="Password" value="«hunter2xy»" />`, `<property name="password" value="«hunter2xy»"/>`,
	`<server password="«hunter2xy»">`, `<add name="db" connectionString="Server=x;Password=«hunter2xy»;Database=y"/>`,
	// Programs.
	`password := "«hunter2xy»"`, `password = "«hunter2xy»"`, `const apiKey = "«a1B2c3D4e5F6g7H8»";`, "let token = `«a1B2c3D4e5F6g7H8»`;", `var dbPassword = '«hunter2xy»'`, `'password' => '«hunter2xy»',`,
	`:password => "«hunter2xy»"`, `os.environ["API_TOKEN"] = "«a1B2c3D4e5F6g7H8»"`, `config['secret_key'] = '«a1B2c3D4e5F6g7H8»'`, `define('DB_PASSWORD', '«hunter2xy»');`, `setenv("API_TOKEN", "«a1B2c3D4e5F6g7H8»", 1)`,
	`Password: "«hunter2xy»",`, `connect(user="ann", password="«hunter2xy»")`, `secret = b"«a1B2c3D4e5F6g7H8»"`, `password ||= "«hunter2xy»"`, `if password == "«hunter2xy»" {`,
	// Headers.
	"Authorization: Bearer «a1B2c3D4e5F6»", "authorization: basic «YW5uOmh1bnRlcjI=»", `curl -H "Authorization: token «a1b2c3d4e5»" x`, "Proxy-Authorization: Basic «YW5uOmh1bnRlcjI=»", "Authorization: «a1B2c3D4e5F6g7H8»",
	"Authorization: ApiKey «a1B2c3D4e5F6»", `{"Authorization": "Bearer «a1B2c3D4e5F6»"}`, "send Bearer «a1B2c3D4e5F6g7H8i9J0» with it", "X-Api-Key: «a1B2c3D4e5F6g7H8»", "x-auth-token: «a1B2c3D4e5F6g7H8»", "PRIVATE-TOKEN: «a1B2c3D4e5F6g7H8»",
	"Cookie: session=«a1B2c3D4e5F6; theme=dark»", "Cookie: session=«a1B2c3D4e5F6$»", "Cookie: a=«b1c2{d3(e4<f5»", "Set-Cookie: sid=«a1B2c3D4e5F6»; Path=/; HttpOnly", `-H 'Cookie: a=«b1c2d3e4f5»' x`, "> cookie: _s=«a1B2c3D4e5F6»", "X-Vault-Token: «a1B2c3D4e5F6g7H8»", "Ocp-Apim-Subscription-Key: «0a1b2c3d4e5f67890a1b2c3d4e5f6789»",
	// URLs.
	"postgres://ann:«hunter2»@db/x", "redis://:«hunter2»@db/0", "https://ann:«12345»@x.example/", "amqp://a:«b%40c»@mq", "mongodb+srv://ann:«p4ss»@c.example/x", "https://x.example/?access_token=«a1B2c3D4e5»&x=1", "https://x.example/?api_key=«a1B2c3D4e5»", "GET /x?token=«a1B2c3D4e5» 200",
	"https://x.example/y?a=1&key=«a1B2c3D4e5»", "https://x.example/?client_secret=«a1B2c3D4e5»&z", "jdbc:mysql://db/x?user=a&password=«hunter2xy»",
	// Options of commands.
	"x --password «hunter2xy» y", "x --password=«hunter2xy» y", "x --token «a1B2c3D4e5» y", "x --api-key «a1B2c3D4e5»", "x --db-password '«hunter2 xy!»' y", "mysql -u ann -p«hunter2xy» db", "mysqldump -p«hunter2xy» db", "sshpass -p «hunter2xy» ssh h", "sshpass -p '«hunter2xy»' ssh h",
	"docker login -u ann -p «hunter2xy» r.example", "curl -u ann:«hunter2xy» https://x.example", "curl --user ann:«hunter2xy» https://x.example", "curl -u 'ann:«hunter2xy»' x", "wget --password=«hunter2xy» x", "x -password «hunter2xy» y",
	// Queries and connections.
	"CREATE USER ann IDENTIFIED BY '«hunter2xy»';", "ALTER USER ann IDENTIFIED BY \"«hunter2xy»\"", "CREATE ROLE ann WITH LOGIN PASSWORD '«hunter2xy»';", "alter user ann with password '«hunter2xy»'", "IDENTIFIED WITH mysql_native_password BY '«hunter2xy»'",
	"Server=db;Uid=ann;Pwd=«hunter2xy»;", "Server=db;User Id=ann;Password=«hunter2xy»;", "host=db user=ann password=«hunter2xy» dbname=x", "cache.example:6380,password=«a1B2c3D4e5F6=»,ssl=True", "AccountName=x;AccountKey=«" + strings.Repeat("a1B2", 21) + "ab==»;EndpointSuffix=x",
	"Endpoint=sb://x/;SharedAccessKeyName=r;SharedAccessKey=«" + strings.Repeat("a1B2", 11) + "»", "machine x.example login ann password «hunter2xy»", "machine x.example\n  login ann\n  password «hunter2xy»\n", "//r.example/:_authToken=«a1B2c3D4e5»", "//r.example/:_password=«aHVudGVyMg==»", "_auth = «YW5uOmh1bnRlcjI=»",
	"aws_secret_access_key = «" + strings.Repeat("a1B2/", 8) + "»", `"SecretAccessKey": "«` + strings.Repeat("a1B2+", 8) + `»"`, "aws_session_token=«" + strings.Repeat("a1B2+", 30) + "»", "https://b.example/?X-Amz-Signature=«" + strings.Repeat("0a1b", 16) + "»", "PrivateKey = «" + strings.Repeat("a1B2", 10) + "abc=»",
	// As in the output of tools.
	"12:DB_PASSWORD=«hunter2xy»", "./.env:3:DB_PASSWORD=«hunter2xy»", "+DB_PASSWORD=«hunter2xy»", "-  password: «hunter2xy»", "     3\tDB_PASSWORD=«hunter2xy»", "DB_PASSWORD=«hunter2xy$»", `{"stdout":"DB_PASSWORD=«hunter2xy»\nA=b\n"}`, `{"out":"x:\n  password: «hunter2xy»\n"}`, "\x1b[32mDB_PASSWORD\x1b[m=x DB_PASSWORD=«hunter2xy»\x1b[m",
}

// innocent holds texts without secrets, which must stay unchanged.
var innocent = []string{
	"commit 9fceb02d0ae598e95dc970b74767f19372d61af8", "9fceb02d0 (HEAD -> main) say it", "index 9fceb02..d0ae598 100644", "123e4567-e89b-12d3-a456-426614174000", "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
	"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  go.tar.gz", "SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU", "github.com/x/y v1.2.3 h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
	`"integrity": "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg=="`, `"resolved": "https://packages.example/js-tokens/-/js-tokens-4.0.0.tgz"`, "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
	`!function(e,t){"object"==typeof exports?module.exports=t():e.Key=t()}(this,function(){var e=1,k2=e.token;return e})`, "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGx ann@host", "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQC7vbqajDw4o6gJy8UtmIbkcpnkO3Kwc4qsEnSZp/TR ann@host",
	`password = os.Getenv("DB_PASSWORD2")`, `password: os.environ["DB_PASSWORD2"]`, "token: ${TOKEN}", "token: $TOKEN2", "token: ${{ secrets.TOKEN_2 }}", "TOKEN=$(cat /run/token2)", `TOKEN="$TOKEN2"`, "password: {{ .Values.password2 }}", `password = "<your-password-1>"`, `"password": "<%= pw1 %>"`,
	"password=********", `"password": "xxxxxxxx"`, "API_KEY=your_key_1_here", `api_key = "your-api-key-123"`, "PASSWORD=", "PASSWORD=secret", `password = ""`, "password: null", "password: true", `"password": "required"`, "--password string   password of the user", "--token TOKEN   the token", "  -p, --password PASSWORD  ask", "--password-stdin",
	"Enter password: ", "Enter passphrase for key '/root/.ssh/id_ed25519': ", "error: password must be 8 characters or more", "the password was changed 2 days ago", "passwords: 12 of 34", "invalid token '}' at line 12", `unexpected token "func2" here`, "token: unexpected end of file", "max_tokens: 4096", `"total_tokens": 123456`, "MAX_TOKEN=4096", "tokens = 12345678",
	"token := p.next2()", "token := lexer.token2", "tok, err := parser.Token(1)", "token = tokens[0]", "key := keys[i]", "for key, value := range m1 {", `m["key1"] = "value1"`, `{"key": "value-123456789"}`, `"key": "ctrl+shift+1"`, "publicKey: a1B2c3D4e5F6g7H8", `"public_key": "a1B2c3D4e5F6g7H8"`, "primary_key=id1234567", "cache-key: linux-go-1234567", "foreignKey: user1234_id",
	"TOKEN_URL=https://x.example/token1", "PASSWORD_FILE=/run/secrets/pw1", "SECRET_NAME=db-secret-1", "secretName: db-secret-v1", `secret: "my-secret-1"`, "AWS_ACCESS_KEY_ID_FILE=/x1", "password=/etc/x1/pw", "PWD=/home/ann/x1", "OLDPWD=/home/ann2", "auth: none", "auth = false", "author: ann1234567", `"author": "Ann 1234567"`, "authors = 12345678",
	"Authorization: required", "Authorization: Bearer $TOKEN", "Authorization: Bearer <token>", "the bearer of good news", "Bearer tokens are sent in a header", "X-Api-Key: $KEY", "Cookie: a=b", "Cookie: $COOKIE", "Set-Cookie: theme=dark; Path=/", "cookies: 12",
	"http://host:8080/a@b", "http://localhost:8080", "https://ann@example.com/x", "ssh://git@host:22/x", "postgres://ann:${PASSWORD}@db/x", "https://x.example/?token=abc", "https://x.example/?page_token=2&size=10", "git@github.com:ann/x1.git", "mkdir -p a1b2c3d4/x", "docker run -u 1000:1000 -p 8080:80 x", "ps -u ann1234", "curl -u $USER:$PASS x", "mysql -p db", "cp -p file1234 x",
	"CREATE USER ann IDENTIFIED BY 'pw'", "ALTER TABLE x ADD password varchar(255)", "SELECT token FROM t1 WHERE a = 'b1'", "password VARCHAR(255) NOT NULL", "-----BEGIN CERTIFICATE-----\nMIIBIjANBgkqhkiG9w0BAQEF\n-----END CERTIFICATE-----", "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEF\n-----END PUBLIC KEY-----",
	`strings.Contains(s, "-----BEGIN RSA PRIVATE KEY-----") || more`, "risk-free and task-based, desk-management-of-many-things-in-the-office-2", "class sk-toggleable__content-arrow of the page", "hf_hub_download(repo_id)", "SG. and the rest", "sed 's/$1$2/x/'", "live_reload_of_the_page_when_a_file_of_it_changes", "re_compile_of_all_the_patterns_that_are_there", "key-value-store", "pat.Match(x)",
}

// split returns the text of a notation and the expected redacted text.
func split(text string) (whole, want string) {
	text = strings.ReplaceAll(text, "«»", "")
	whole = strings.NewReplacer("«", "", "»", "").Replace(text)
	for {
		b, rest, found := strings.Cut(text, "«")
		if want += b; !found {
			return whole, want
		}
		_, text, _ = strings.Cut(rest, "»")
		want += Mark
	}
}

func TestNotations(t *testing.T) {
	for _, n := range notations {
		for _, around := range [][2]string{{"", ""}, {"a\n", "\nb"}} {
			text, want := split(around[0] + n + around[1])
			if got := (*Redactor)(nil).Text(text); got != want {
				t.Errorf("Text(%q)\n = %q, want %q", text, got, want)
			}
		}
	}
}

func TestInnocent(t *testing.T) {
	for _, text := range innocent {
		for _, around := range [][2]string{{"", ""}, {"a\n", "\nb"}, {"    ", "\n"}, {"12:", "\n"}} {
			text := around[0] + text + around[1]
			if got := (*Redactor)(nil).Text(text); got != text {
				t.Errorf("Text(%q)\n = %q", text, got)
			}
		}
	}
	if n := len(vectors) + len(notations) + len(keyLines); n < 200 || len(innocent) < 80 {
		t.Errorf("%d cases, %d innocent ones", n, len(innocent))
	}
}

// keyLines holds prefixes and suffixes for each line of a private key.
var keyLines = []struct{ name, before, after string }{
	{"plain", "", ""},
	{"indent", "    ", ""},
	{"tab", "\t", ""},
	{"nl", "     #\t", ""},
	{"cat -n", "    1#\t", ""},
	{"cat -A", "", "$"},
	{"cat -A of Windows", "", "^M$"},
	{"nl and cat -A", "     #^I", "$"},
	{"grep -n", "#:", ""},
	{"grep with names", "id_rsa:", ""},
	{"grep -n with names", "etc/id_rsa:#:", ""},
	{"grep -rn in colour", "\x1b[35mid_rsa\x1b[m\x1b[36m:\x1b[m#:", ""},
	{"diff, added", "+", ""},
	{"diff, removed", "-", ""},
	{"diff, same", " ", ""},
	{"diff, indented", "+    ", ""},
	{"quoted mail", "> ", ""},
	{"comment", "# ", ""},
	{"block comment", " * ", ""},
	{"read tool", "    #→", ""},
	{"read tool with bar", "  # | ", ""},
	{"strings added up", `    "`, `\n" +`},
	{"list", `  "`, `",`},
	{"carriage return", "", "\r"},
	{"compose log", "web-1  | ", ""},
	{"git blame", "9fceb02d (Ann 2026-01-02 #) ", ""},
}

func shownKey(before, after, end string) string {
	lines := strings.Split(key("RSA "), "\n")
	for i := range lines {
		lines[i] = strings.ReplaceAll(before, "#", string(rune('1'+i%9))) + lines[i] + after
	}
	return strings.Join(lines, end)
}

func TestKeyLines(t *testing.T) {
	for _, l := range keyLines {
		for _, end := range []string{"\n", `\n`, `\r\n`, `\\n`} {
			if end != "\n" && strings.ContainsAny(l.before+l.after, "\"\\\t\r\x1b") {
				continue
			}
			text := "before" + end + shownKey(l.before, l.after, end) + end + "behind it"
			if strings.HasPrefix(end, `\`) { // the first line of a JSON string
				got := (*Redactor)(nil).Text(`{"id":1,"stdout":"` + shownKey(l.before, l.after, end) + `"}`)
				if strings.Contains(got, "MIIE") {
					t.Errorf("%s, in JSON: %q", l.name, got)
				}
			}
			begin := "before" + end + strings.ReplaceAll(l.before, "#", "1") + "-----BEGIN RSA PRIVATE KEY-----"
			if got, want := (*Redactor)(nil).Text(text), begin+Mark+l.after+end+"behind it"; got != want {
				t.Errorf("%s, ends as %q: %q, want %q", l.name, end, got, want)
			}
		}
	}
}

// However the text is split into pieces, a stream returns the same as for the whole text.
func TestStreamIsAsWhole(t *testing.T) {
	r := New("hunter2-hunter2")
	var texts []string
	for _, v := range vectors {
		texts = append(texts, "a "+v.shown+v.key+". b\n", v.shown+v.key)
	}
	for _, n := range notations {
		whole, _ := split(n)
		texts = append(texts, whole+"\n", whole)
	}
	for _, n := range innocent {
		texts = append(texts, n+"\nthen")
	}
	for _, l := range keyLines {
		texts = append(texts, "x\n"+shownKey(l.before, l.after, "\n")+"\ny\n")
	}
	for _, s := range secrets {
		texts = append(texts, "a\n"+s.text+" b")
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := range texts { // and all texts joined
		texts = append(texts, texts[i]+texts[rnd.IntN(len(texts))]+texts[rnd.IntN(len(texts))])
	}
	for _, text := range texts {
		want := r.Text(text)
		for _, most := range []int{1, 5, 60} {
			if got := pieces(r, text, func() int { return 1 + rnd.IntN(most) }); got != want {
				t.Errorf("%q\n in pieces of %d: %q\n as a whole: %q", text, most, got, want)
				break
			}
		}
	}
}
