package rights

import (
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"time"
)

// A folder is a configuration while it is written. After the first error it does nothing.
type folder struct {
	dir string
	err error
}

// once writes the folder name if it is missing. It writes and renames another folder, and
// replaces the rest of an interrupted call.
func (f *folder) once(name string, write func(dir string)) {
	fresh, path := ".new-"+name, filepath.Join(f.dir, name)
	if _, err := os.Stat(path); f.err != nil || !errors.Is(err, fs.ErrNotExist) {
		f.err = errors.Join(f.err, err)
		return
	}
	f.err = os.RemoveAll(filepath.Join(f.dir, fresh))
	write(fresh)
	if f.err == nil {
		f.err = os.Rename(filepath.Join(f.dir, fresh), path)
	}
}

// write writes a file that only its owner may read.
func (f *folder) write(name string, b []byte) {
	path := filepath.Join(f.dir, name)
	if f.err == nil {
		f.err = errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, b, 0o600))
	}
}

func (f *folder) copy(from, to string) {
	b, err := os.ReadFile(filepath.Join(f.dir, from))
	f.err = cmp.Or(f.err, err)
	f.write(to, b)
}

// validity is the life of certificates.
const validity = 10 * 365 * 24 * time.Hour

// certify writes name.pem and name.key for a host, or for a client without one, signed by the
// authority in by. Without by they are an authority.
func (f *folder) certify(by, name, subject, host string, use ...x509.ExtKeyUsage) {
	now := time.Now()
	t := &x509.Certificate{
		Subject: pkix.Name{CommonName: subject}, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(validity),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: use,
	}
	if ip := net.ParseIP(host); ip != nil {
		t.IPAddresses = []net.IP{ip}
	} else if host != "" {
		t.DNSNames = []string{host}
	}
	if by == "" {
		t.IsCA, t.BasicConstraintsValid, t.MaxPathLenZero, t.KeyUsage = true, true, true, x509.KeyUsageCertSign
	}
	if f.err == nil {
		f.err = f.sign(by, name, t)
	}
}

func (f *folder) sign(by, name string, t *x509.Certificate) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	ca := tls.Certificate{Leaf: t, PrivateKey: key}
	if err == nil && by != "" {
		by = filepath.Join(f.dir, by)
		ca, err = tls.LoadX509KeyPair(by+".pem", by+".key")
	}
	if err != nil {
		return err
	}
	cert, err := x509.CreateCertificate(rand.Reader, t, ca.Leaf, &key.PublicKey, ca.PrivateKey)
	if err != nil {
		return err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	f.write(name+".pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}))
	f.write(name+".key", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}))
	return errors.Join(err, f.err)
}
