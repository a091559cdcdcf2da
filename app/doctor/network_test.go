package doctor

import (
	"os"
	"strings"
	"testing"
)

// Proxies are named without their passwords, and authorities that are not there are said.
func TestCheckNetwork(t *testing.T) {
	for _, tt := range []struct {
		env  map[string]string
		want Health
		text string
	}{
		{nil, Fine, "no proxy"},
		{map[string]string{"ALL_PROXY": "socks5://ann:s3cret@10.0.0.1:1080"}, Fine, "proxies: https through socks5://10.0.0.1:1080, http through socks5://10.0.0.1:1080"},
		{map[string]string{"HTTPS_PROXY": "10.0.0.1:3128"}, Fine, "proxies: https through http://10.0.0.1:3128"},
		{map[string]string{"HTTPS_PROXY": "ftp://ann:s3cret@10.0.0.1"}, Broken, "the proxy for https is not a URL with http, https, socks5 or socks5h"},
		{map[string]string{"SSL_CERT_FILE": "/no/ca.pem"}, Weak, "SSL_CERT_FILE: stat /no/ca.pem: no such file or directory"},
		{map[string]string{"SSL_CERT_DIR": t.TempDir() + ":/no/certs"}, Weak, "SSL_CERT_DIR: stat /no/certs: no such file or directory"},
		{map[string]string{"SSL_CERT_DIR": t.TempDir()}, Fine, "no proxy"},
	} {
		for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR"} {
			t.Setenv(name, tt.env[name])
		}
		if one := checkNetwork(os.Getenv); one.State != tt.want || !strings.HasPrefix(one.Text, tt.text) || strings.Contains(one.Text, "s3cret") {
			t.Errorf("%v: %+v", tt.env, one)
		}
	}
}
