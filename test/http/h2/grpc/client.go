// A client of gRPC that makes the calls which it reads from its input (call.ts), as any program in Go would.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

type call struct {
	ID          int               `json:"id"`
	Path        string            `json:"path"`
	Kind        string            `json:"kind"`
	Messages    []string          `json:"messages"`
	Metadata    map[string]string `json:"metadata"`
	DeadlineMs  int               `json:"deadlineMs"`
	CancelAfter int               `json:"cancelAfter"`
	StaysOpen   bool              `json:"staysOpen"`
}

// raw is a codec for messages that are bytes: the tests have no descriptions of them.
type raw struct{}

func (raw) Name() string                              { return "proto" }
func (raw) Marshal(value interface{}) ([]byte, error) { return *value.(*[]byte), nil }
func (raw) Unmarshal(data []byte, value interface{}) error {
	*value.(*[]byte) = data
	return nil
}

var output sync.Mutex

func tell(event map[string]interface{}) {
	output.Lock()
	defer output.Unlock()
	if err := json.NewEncoder(os.Stdout).Encode(event); err != nil {
		os.Exit(1)
	}
}

func run(connection *grpc.ClientConn, c call) {
	ctx, cancel := context.WithCancel(metadata.NewOutgoingContext(context.Background(), metadata.New(c.Metadata)))
	defer cancel()
	if c.DeadlineMs > 0 {
		ctx, cancel = context.WithTimeout(ctx, time.Duration(c.DeadlineMs)*time.Millisecond)
		defer cancel()
	}
	trailer := metadata.MD{}
	err := exchange(ctx, cancel, connection, c, &trailer)
	trailers := map[string]string{}
	for name, values := range trailer {
		trailers[name] = values[0]
	}
	result := status.Convert(err)
	tell(map[string]interface{}{"id": c.ID, "code": result.Code(), "details": result.Message(), "trailers": trailers})
}

func exchange(ctx context.Context, cancel func(), connection *grpc.ClientConn, c call, trailer *metadata.MD) error {
	if c.Kind == "unary" {
		request, response := []byte(c.Messages[0]), []byte{}
		err := connection.Invoke(ctx, c.Path, &request, &response, grpc.Trailer(trailer))
		if err == nil {
			tell(map[string]interface{}{"id": c.ID, "message": string(response)})
		}
		return err
	}
	isChat := c.Kind == "chat"
	description := grpc.StreamDesc{ClientStreams: c.Kind != "download", ServerStreams: c.Kind != "upload"}
	stream, err := connection.NewStream(ctx, &description, c.Path)
	if err != nil {
		return err
	}
	defer func() { *trailer = stream.Trailer() }()
	received := 0
	receive := func() error {
		var response []byte
		if err := stream.RecvMsg(&response); err != nil {
			return err
		}
		tell(map[string]interface{}{"id": c.ID, "message": string(response)})
		if received++; received == c.CancelAfter {
			cancel()
		}
		return nil
	}
	for _, message := range c.Messages {
		request := []byte(message)
		if err := stream.SendMsg(&request); err != nil && err != io.EOF {
			return err
		}
		if !isChat {
			continue
		}
		// One at a time, as a conversation goes.
		if err := receive(); err != nil {
			return err
		}
	}
	if !c.StaysOpen {
		if err := stream.CloseSend(); err != nil {
			return err
		}
	}
	for {
		if err := receive(); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		} else if c.Kind == "upload" {
			return nil
		}
	}
}

func main() {
	connection, err := grpc.Dial(os.Args[1], grpc.WithInsecure(), grpc.WithDefaultCallOptions(grpc.ForceCodec(raw{})))
	if err != nil {
		panic(err)
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var c call
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			panic(err)
		}
		go run(connection, c)
	}
}
