package kubelet

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"nvpeak/sampler"
)

const (
	// method is in Kubernetes since 1.20.
	method = "/v1.PodResourcesLister/List"
	// maxAnswer is as much as the kubelet's own clients take.
	maxAnswer = 16 << 20
	// frameHead is before each message of gRPC: whether it is compressed, and its length.
	frameHead = 5
)

// list asks for the pods of this node. Without a socket there are none.
func list(ctx context.Context, socket string) (held, error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "unix", socket)
	if errors.Is(err, fs.ErrNotExist) {
		return held{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("the kubelet's socket cannot be opened, so pods have no names: %w", err)
	}
	defer conn.Close() //nolint:errcheck // what it said is judged
	message, err := call(ctx, conn)
	if err != nil {
		return nil, fmt.Errorf("the kubelet does not tell its pods: %w", err)
	}
	return parse(message)
}

// call makes the one call of a connection.
func call(ctx context.Context, conn net.Conn) ([]byte, error) {
	transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return conn, nil }, Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	defer transport.CloseIdleConnections()
	empty := make([]byte, frameHead)
	r := (&http.Request{Method: http.MethodPost, URL: &url.URL{Scheme: "http", Host: "localhost", Path: method}, ContentLength: int64(len(empty)),
		Header: http.Header{"Content-Type": {"application/grpc"}, "Te": {"trailers"}}, Body: io.NopCloser(bytes.NewReader(empty))}).WithContext(ctx)
	answer, err := transport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer+frameHead+1))
	switch {
	case err != nil:
		return nil, err
	case answer.StatusCode != http.StatusOK:
		return nil, errors.New(answer.Status)
	}
	status, why := answer.Trailer.Get("Grpc-Status"), answer.Trailer.Get("Grpc-Message")
	if status == "" { // an answer without a message has no trailers
		status, why = answer.Header.Get("Grpc-Status"), answer.Header.Get("Grpc-Message")
	}
	if status != "0" && len(body) <= maxAnswer+frameHead {
		return nil, fmt.Errorf("gRPC status %s %s", sampler.Clean(status), sampler.Clean(why))
	}
	if len(body) < frameHead || body[0] != 0 || int(binary.BigEndian.Uint32(body[1:])) != len(body)-frameHead {
		return nil, fmt.Errorf("an answer of %d bytes that is no message", len(body))
	}
	return body[frameHead:], nil
}

// Numbers of fields: https://github.com/kubernetes/kubelet/blob/master/pkg/apis/podresources/v1/api.proto
const (
	answerPods       = 1
	podName          = 1
	podNamespace     = 2
	podContainers    = 3
	containerName    = 1
	containerDevices = 2
	deviceResource   = 1
	deviceIDs        = 2
)

// parse reads a ListPodResourcesResponse.
func parse(message []byte) (held, error) {
	h := held{}
	err := fields(message, func(field protowire.Number, pod []byte) error {
		if field != answerPods {
			return nil
		}
		return h.pod(pod)
	})
	if err != nil {
		return nil, fmt.Errorf("the kubelet's answer cannot be read: %w", err)
	}
	return h, nil
}

func (h held) pod(message []byte) error {
	var p Pod
	var containers [][]byte
	err := fields(message, func(field protowire.Number, value []byte) error {
		switch field {
		case podName:
			p.Name = sampler.Clean(string(value))
		case podNamespace:
			p.Namespace = sampler.Clean(string(value))
		case podContainers:
			containers = append(containers, value)
		}
		return nil
	})
	for _, c := range containers {
		err = errors.Join(err, h.container(p, c))
	}
	return err
}

func (h held) container(p Pod, message []byte) error {
	var ids []string
	err := fields(message, func(field protowire.Number, value []byte) error {
		switch field {
		case containerName:
			p.Container = sampler.Clean(string(value))
		case containerDevices:
			resource, some := "", []string(nil)
			if err := fields(value, func(field protowire.Number, value []byte) error {
				switch field {
				case deviceResource:
					resource = string(value)
				case deviceIDs:
					some = append(some, deviceName(string(value)))
				}
				return nil
			}); err != nil {
				return err
			}
			if strings.HasPrefix(resource, "nvidia.com/") { // gpu, gpu.shared, mig-1g.10gb
				ids = append(ids, some...)
			}
		}
		return nil
	})
	for _, id := range ids {
		if !slices.Contains(h[id], p) {
			h[id] = append(h[id], p)
		}
	}
	return err
}

// fields reads those fields of a message that have bytes.
func fields(message []byte, each func(protowire.Number, []byte) error) error {
	for len(message) > 0 {
		field, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return protowire.ParseError(n)
		}
		message = message[n:]
		if n = protowire.ConsumeFieldValue(field, kind, message); n < 0 {
			return protowire.ParseError(n)
		}
		if kind == protowire.BytesType {
			value, _ := protowire.ConsumeBytes(message)
			if err := each(field, value); err != nil {
				return err
			}
		}
		message = message[n:]
	}
	return nil
}
