package config

import (
	"crypto/x509"
	"errors"
	"fmt"

	"buddy/owners"
)

// maxAuthorities limits a file of certificates in bytes; those of whole systems have some hundred KiB.
const maxAuthorities = 4 << 20

// Authorities returns the certificate authorities that the endpoint of the profile is checked by: the system's and those
// in its file; nil without a file, which means the system's. It reads the file.
func (p Profile) Authorities() (*x509.CertPool, error) {
	if p.CAFile == "" {
		return nil, nil
	}
	data, _, err := readRegular(p.CAFile, maxAuthorities)
	if err == nil {
		err = owners.CheckOwn(p.CAFile)
	}
	pool, _ := x509.SystemCertPool() // without one, there are those of the file
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
