package config

import (
	"crypto/x509"
	"errors"
	"fmt"

	"buddy/owners"
)

// maxAuthorities limits a file of certificates in bytes; the files of whole systems have some hundred KiB.
const maxAuthorities = 4 << 20

// Authorities returns the certificate authorities for the profile's endpoint: the system's and those in its file. It
// reads the file. Without a file it returns nil, which means the system's.
func (p Profile) Authorities() (*x509.CertPool, error) {
	if p.CAFile == "" {
		return nil, nil
	}
	data, _, err := readRegular(p.CAFile, maxAuthorities)
	if err == nil {
		err = owners.CheckOwn(p.CAFile)
	}
	pool, _ := x509.SystemCertPool() // without a system pool only those of the file count
	if pool == nil {
		pool = x509.NewCertPool()
	}
	if err == nil && !pool.AppendCertsFromPEM(data) {
		err = errors.New("holds no certificate in PEM form (-----BEGIN CERTIFICATE-----)")
	}
	if err != nil {
		return nil, &Error{Key: Path("models", p.section(), "ca_file"), Err: fmt.Errorf("%q: %w", p.CAFile, err)}
	}
	return pool, nil
}
