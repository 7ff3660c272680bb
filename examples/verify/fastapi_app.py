import asyncio
import contextlib
import json
import sys
import time
import urllib.request

import jwt
import uvicorn
from fastapi import Depends, FastAPI, Header, HTTPException

gateway, port = sys.argv[1], int(sys.argv[2])


class Keys:
    """The keys of the gateway.

    They are read again for an unknown one, once in 30 seconds at most, and when they are five minutes old. Only callers
    with an unknown key wait for that.
    """

    def __init__(self, url):
        self.url = url
        self.known = {}
        self.reading = asyncio.Lock()
        self.read_at = float("-inf")

    async def find(self, kid):
        if kid not in self.known:
            await self.read_after(30)
        elif time.monotonic() - self.read_at > 300:
            self.refresh = asyncio.create_task(self.read_after(300))
        if kid not in self.known:
            raise jwt.InvalidTokenError("unknown key")
        return self.known[kid]

    async def read_after(self, seconds):
        async with self.reading:
            if time.monotonic() - self.read_at > seconds:
                self.read_at = time.monotonic()
                with contextlib.suppress(OSError, ValueError, jwt.PyJWTError):
                    self.known = await asyncio.to_thread(self.read)

    def read(self):
        with urllib.request.urlopen(self.url, timeout=5) as response:
            return {key.key_id: key.key for key in jwt.PyJWKSet.from_dict(json.load(response)).keys}


keys = Keys(f"{gateway}/.well-known/jwks.json")


async def identity(x_gatehouse_assertion: str = Header("")) -> dict:
    try:
        header = jwt.get_unverified_header(x_gatehouse_assertion)
        if header.get("typ") != "gatehouse-assertion+jwt":
            raise jwt.InvalidTokenError("not an assertion")
        return jwt.decode(
            x_gatehouse_assertion,
            await keys.find(header.get("kid")),
            algorithms=["ES256"],
            issuer=gateway,
            audience="orders",
            leeway=5,
            options={"require": ["iss", "aud", "sub", "iat", "exp"]},
        )
    except jwt.PyJWTError as error:
        raise HTTPException(401, "no valid assertion") from error


app = FastAPI()


@app.get("/orders")
def orders(caller: dict = Depends(identity)) -> dict:
    return {"id": caller["sub"], "role": caller["role"]}


uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning")
