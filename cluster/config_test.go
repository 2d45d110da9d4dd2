package cluster_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/nats-io/nats.go"
	"handloom/cluster"
	"handloom/cluster/cells"
	"handloom/cluster/internal/localnet"
)

func certify(t *testing.T, dir string) {
	t.Helper()
	write := func(name, kind string, b []byte) {
		noError(t, os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: b}), 0o600))
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	noError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	noError(t, err)
	secret, err := x509.MarshalECPrivateKey(key)
	noError(t, err)
	write("ca.pem", "CERTIFICATE", cert)
	write("server.pem", "CERTIFICATE", cert)
	write("server.key", "EC PRIVATE KEY", secret)
}

// startSecured starts three servers with the guide's configuration, and returns their URLs by
// user.
func startSecured(t *testing.T) func(user, password string) cluster.Servers {
	t.Helper()
	t.Setenv("CELL_7", "seven")
	t.Setenv("OPERATOR", "all")
	dir := t.TempDir()
	certify(t, dir)
	text, err := os.ReadFile("testdata/server.conf")
	noError(t, err)
	file := filepath.Join(dir, "server.conf")
	noError(t, os.WriteFile(file, []byte(strings.ReplaceAll(string(text), "/etc/handloom", dir)), 0o600))
	c := startServers(t, 3, func(_ int, o *server.Options) {
		conf, err := server.ProcessConfigFile(file)
		if err != nil {
			t.Error(err)
			return
		}
		conf.ServerName, conf.Host, conf.Port, conf.StoreDir, conf.Routes = o.ServerName, o.Host, o.Port, o.StoreDir, o.Routes
		conf.Cluster.Host, conf.Cluster.Port, conf.Cluster.PoolSize = o.Cluster.Host, o.Cluster.Port, o.Cluster.PoolSize
		conf.NoLog, conf.NoSigs = true, true
		*o = *conf
	})
	return func(user, password string) cluster.Servers {
		return securedURLs(c, dir, user, password)
	}
}

func securedURLs(c *localnet.Cluster, dir, user, password string) cluster.Servers {
	addresses := c.URLs(0)
	// region connect
	s := cluster.URLs(
		addresses, // nats://one:4222 and so on
		nats.UserInfo(user, password),
		nats.RootCAs(filepath.Join(dir, "ca.pem")),
		nats.ClientCert(filepath.Join(dir, "server.pem"), filepath.Join(dir, "server.key")),
	)
	// endregion
	return s
}

func TestServerConf_RestrictsNodesToTheirCell(t *testing.T) {
	as := startSecured(t)
	o := cluster.Options{}
	l := openLog(t, as("cell-7", "seven"), 7, o)
	fill(t, l, 5)
	wantRecords(t, l, 0, 5, record)
	for _, at := range []uint64{3, 4, 5} {
		saveText(t, l, at)
	}
	r, err := l.Load(t.Context(), 5)
	noError(t, err)
	if b, err := io.ReadAll(r); err != nil || string(b) != "state 5" {
		t.Errorf("%q, %v", b, err)
	}
	mustClose(t, r)
	noError(t, l.Trim(t.Context(), 4))
	begin := time.Now()
	_, err = l.StepDown(t.Context())
	for err != nil && time.Since(begin) < patience { // fails while a server lags
		_, err = l.StepDown(t.Context())
	}
	noError(t, err)
	wantNumber(t, "a message to the cell", 3)(askOneself(t, l, 7))
	if err := enters(t, as("cell-7", "seven"), 8); err == nil {
		t.Error("the nodes of cell 7 have rights in cell 8")
	}
	if err := enters(t, as("cell-7", "wrong"), 7); err == nil {
		t.Error("a wrong password does")
	}
}

func askOneself(t *testing.T, l *cluster.Log, cell cluster.CellID) (cursor uint64, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		ended <- l.Transport().Serve(ctx, cell, func(_ context.Context, _ cluster.CellID, packet []byte) (uint64, error) {
			return uint64(len(packet)), nil
		})
	}()
	for err = cells.ErrUnreachable; errors.Is(err, cells.ErrUnreachable); {
		cursor, err = l.Transport().Request(ctx, cell, []byte("abc"))
	}
	cancel()
	<-ended
	return cursor, err
}

func enters(t *testing.T, s cluster.Servers, cell cluster.CellID) error {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errors.New("no answer"))
	defer cancel()
	l, err := cluster.Open(ctx, s, cell, cluster.Options{})
	if err != nil {
		return err
	}
	mustClose(t, l)
	return nil
}
