package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math/big"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

type claims struct {
	Iss, Aud, Sub, Role string
	Iat, Exp, Nbf       int64
}

// keySet holds the ES256 keys of the gateway, and reads them again for an unknown one, once in 30 seconds at most.
// Only callers with an unknown key wait for that. A retired key goes with the first assertion of its successor.
type keySet struct {
	url     string
	keys    atomic.Pointer[map[string]*ecdsa.PublicKey]
	reading sync.Mutex
	readAt  time.Time
}

func (set *keySet) known(kid string) *ecdsa.PublicKey {
	if keys := set.keys.Load(); keys != nil {
		return (*keys)[kid]
	}
	return nil
}

func (set *keySet) find(kid string) *ecdsa.PublicKey {
	if key := set.known(kid); key != nil {
		return key
	}
	set.reading.Lock()
	defer set.reading.Unlock()
	if set.known(kid) == nil && time.Since(set.readAt) > 30*time.Second {
		set.readAt = time.Now()
		set.read()
	}
	return set.known(kid)
}

func (set *keySet) read() {
	client := http.Client{Timeout: 5 * time.Second}
	response, err := client.Get(set.url)
	if err != nil {
		return
	}
	defer response.Body.Close()
	var found struct {
		Keys []struct{ Kid, Kty, Crv, X, Y string }
	}
	if response.StatusCode != 200 || json.NewDecoder(response.Body).Decode(&found) != nil {
		return
	}
	keys := map[string]*ecdsa.PublicKey{}
	for _, key := range found.Keys {
		x, errX := base64.RawURLEncoding.DecodeString(key.X)
		y, errY := base64.RawURLEncoding.DecodeString(key.Y)
		if key.Kty == "EC" && key.Crv == "P-256" && errX == nil && errY == nil {
			keys[key.Kid] = &ecdsa.PublicKey{
				Curve: elliptic.P256(), X: new(big.Int).SetBytes(x), Y: new(big.Int).SetBytes(y),
			}
		}
	}
	set.keys.Store(&keys)
}

func decode(part string, into any) bool {
	bytes, err := base64.RawURLEncoding.DecodeString(part)
	return err == nil && json.Unmarshal(bytes, into) == nil
}

func verify(token, issuer, audience string, keys *keySet) (claims, error) {
	invalid := errors.New("no valid assertion")
	var header struct{ Alg, Typ, Kid string }
	var caller claims
	parts := strings.Split(token, ".")
	if len(parts) != 3 || !decode(parts[0], &header) || !decode(parts[1], &caller) {
		return claims{}, invalid
	}
	if header.Alg != "ES256" || header.Typ != "gatehouse-assertion+jwt" {
		return claims{}, invalid
	}
	key := keys.find(header.Kid)
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if key == nil || err != nil || len(signature) != 64 {
		return claims{}, invalid
	}
	digest := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	r, s := new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])
	if !ecdsa.Verify(key, digest[:], r, s) {
		return claims{}, invalid
	}
	now, leeway := time.Now().Unix(), int64(5)
	isCurrent := caller.Exp > now-leeway && caller.Iat <= now+leeway && caller.Nbf <= now+leeway
	if !isCurrent || caller.Iss != issuer || caller.Aud != audience || caller.Sub == "" {
		return claims{}, invalid
	}
	return caller, nil
}

func main() {
	gateway, port := os.Args[1], os.Args[2]
	keys := &keySet{url: gateway + "/.well-known/jwks.json"}
	http.HandleFunc("/orders", func(w http.ResponseWriter, r *http.Request) {
		caller, err := verify(r.Header.Get("X-Gatehouse-Assertion"), gateway, "orders", keys)
		if err != nil {
			http.Error(w, err.Error(), http.StatusUnauthorized)
			return
		}
		json.NewEncoder(w).Encode(map[string]string{"id": caller.Sub, "role": caller.Role})
	})
	panic(http.ListenAndServe("127.0.0.1:"+port, nil))
}
