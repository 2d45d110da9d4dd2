package rights

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"text/template"
	"time"

	"github.com/nats-io/nkeys"
)

// A folder is a configuration while it is written. After the first error it does nothing.
type folder struct {
	dir string
	err error
}

// write writes a file that does not exist, readable for its owner.
func (f *folder) write(name string, b []byte) {
	if f.err != nil {
		return
	}
	path := filepath.Join(f.dir, name)
	if f.err = os.MkdirAll(filepath.Dir(path), 0o700); f.err != nil {
		return
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		_, err = file.Write(b)
		err = errors.Join(err, file.Close())
	}
	f.err = err
}

func (f *folder) read(name string) (b []byte) {
	if f.err == nil {
		b, f.err = os.ReadFile(filepath.Join(f.dir, name))
	}
	return b
}

func (f *folder) copy(from, to string) { f.write(to, f.read(from)) }

func (f *folder) execute(name string, t *template.Template, data any) {
	var b bytes.Buffer
	if f.err == nil {
		f.err = t.Execute(&b, data)
	}
	f.write(name, b.Bytes())
}

// A ca signs certificates.
type ca struct {
	cert *x509.Certificate
	pem  []byte
	key  *ecdsa.PrivateKey
}

// validity is the life of certificates.
const validity = 10 * 365 * 24 * time.Hour

func (f *folder) newCA(name string) *ca {
	t := template509("handloom " + name)
	t.IsCA, t.BasicConstraintsValid, t.MaxPathLenZero = true, true, true
	t.KeyUsage = x509.KeyUsageCertSign
	f.sign("ca/"+name, t, nil)
	return f.readCA(name)
}

func (f *folder) readCA(name string) *ca {
	certPEM, keyPEM := f.read("ca/"+name+".pem"), f.read("ca/"+name+".key")
	if f.err != nil {
		return nil
	}
	certBlock, _ := pem.Decode(certPEM)
	keyBlock, _ := pem.Decode(keyPEM)
	if certBlock == nil || keyBlock == nil {
		f.err = fmt.Errorf("ca/%s: want a certificate and its key", name)
		return nil
	}
	cert, err := x509.ParseCertificate(certBlock.Bytes)
	if err == nil {
		var key *ecdsa.PrivateKey
		if key, err = x509.ParseECPrivateKey(keyBlock.Bytes); err == nil {
			return &ca{cert, certPEM, key}
		}
	}
	f.err = fmt.Errorf("ca/%s: %w", name, err)
	return nil
}

func template509(name string) *x509.Certificate {
	now := time.Now()
	return &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(validity),
		KeyUsage: x509.KeyUsageDigitalSignature,
	}
}

// sign writes name.pem and name.key. by is nil for a CA.
func (f *folder) sign(name string, t *x509.Certificate, by *ca) {
	if f.err != nil {
		return
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err == nil {
		t.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	}
	if err != nil {
		f.err = err
		return
	}
	parent, signer := t, key
	if by != nil {
		parent, signer = by.cert, by.key
	}
	cert, err := x509.CreateCertificate(rand.Reader, t, parent, &key.PublicKey, signer)
	var secret []byte
	if err == nil {
		secret, err = x509.MarshalECPrivateKey(key)
	}
	f.err = err
	f.write(name+".pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}))
	f.write(name+".key", pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: secret}))
}

type use uint8

const (
	isServer use = 1 << iota
	isClient
)

// certify writes a certificate for a host, or for a client without one.
func (f *folder) certify(by *ca, name, subject, host string, purpose use) {
	t := template509(subject)
	if purpose&isServer != 0 {
		t.ExtKeyUsage = append(t.ExtKeyUsage, x509.ExtKeyUsageServerAuth)
	}
	if purpose&isClient != 0 {
		t.ExtKeyUsage = append(t.ExtKeyUsage, x509.ExtKeyUsageClientAuth)
	}
	if ip := net.ParseIP(host); ip != nil {
		t.IPAddresses = []net.IP{ip}
	} else if host != "" {
		t.DNSNames = []string{host}
	}
	f.sign(name, t, by)
}

// user writes the files of a client: the CA of servers, a certificate, and the seed of its user.
func (f *folder) user(by *ca, dir, subject string) {
	if f.err != nil {
		return
	}
	f.write(dir+"/ca.pem", by.pem)
	f.certify(by, dir+"/node", subject, "", isClient)
	key, err := nkeys.CreateUser()
	var seed []byte
	if err == nil {
		seed, err = key.Seed()
	}
	if err != nil {
		f.err = err
		return
	}
	f.write(dir+"/node.nkey", append(seed, '\n'))
}
