"""A client of gRPC that makes the calls which it reads from its input (caller.ts), as any program in Python would."""

import json
import queue
import sys
import threading

import grpc

output = threading.Lock()


def tell(event):
    with output:
        print(json.dumps(event), flush=True)


def requests_of(call, answered):
    """The messages of a call: in a chat each waits for the answer to the one before, as a conversation goes."""
    for message in call["messages"]:
        yield message.encode()
        if call["kind"] == "chat":
            answered.get()
    if call["staysOpen"]:
        answered.get()


def run(channel, call):
    answered = queue.Queue()
    kind = call["kind"]
    kinds = {
        "unary": channel.unary_unary,
        "upload": channel.stream_unary,
        "download": channel.unary_stream,
        "chat": channel.stream_stream,
    }
    request = call["messages"][0].encode() if kind in ("unary", "download") else requests_of(call, answered)
    options = {
        "metadata": list(call["metadata"].items()),
        "timeout": call["deadlineMs"] / 1000 if call["deadlineMs"] else None,
    }
    method = kinds[kind](call["path"])
    received = 0

    def receive(message):
        nonlocal received
        tell({"id": call["id"], "message": message.decode()})
        received += 1
        return received == call["cancelAfter"]

    outcome = None
    try:
        if kind in ("unary", "upload"):
            message, outcome = method.with_call(request, **options)
            receive(message)
        else:
            outcome = method(request, **options)
            for message in outcome:
                if receive(message):
                    outcome.cancel()
                answered.put(True)
    except grpc.RpcError as error:
        outcome = error
    tell({
        "id": call["id"],
        "code": outcome.code().value[0],
        "details": outcome.details() or "",
        "trailers": {name: value for name, value in outcome.trailing_metadata() or () if isinstance(value, str)},
    })
    answered.put(True)


with grpc.insecure_channel(sys.argv[1]) as channel:
    threads = []
    for line in sys.stdin:
        thread = threading.Thread(target=run, args=(channel, json.loads(line)), daemon=True)
        thread.start()
