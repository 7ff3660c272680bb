import sys

import jwt
import uvicorn
from fastapi import Depends, FastAPI, Header, HTTPException

gateway, port = sys.argv[1], int(sys.argv[2])
keys = jwt.PyJWKClient(f"{gateway}/.well-known/jwks.json")


def identity(x_gatehouse_assertion: str = Header("")) -> dict:
    try:
        if jwt.get_unverified_header(x_gatehouse_assertion).get("typ") != "gatehouse-assertion+jwt":
            raise jwt.InvalidTokenError("not an assertion")
        return jwt.decode(
            x_gatehouse_assertion,
            keys.get_signing_key_from_jwt(x_gatehouse_assertion).key,
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
