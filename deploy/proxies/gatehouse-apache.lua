-- For Apache 2.4 with mod_lua and LuaSocket: asks Gatehouse about a request. Whatever goes wrong, the request is not
-- forwarded.

local http = require "socket.http"
local ltn12 = require "ltn12"

local decide_url = "http://127.0.0.1:8081/decide"
-- What ProxyPass sends to the main listener, which decides by itself.
local main_listener = "proxy:http://127.0.0.1:8080"

-- One name for each of identity.headers, and what else an answer brings.
local set = { "X-User-Id", "X-User-Role", "X-Gatehouse-Assertion", "X-Request-Id", "traceparent" }

-- One name for each header that keys.accept names.
local credentials = { "SecretKey" }

-- What a backend could take for the caller's, and what only a proxy may say, in letters and digits.
local cleared = {
    xuserid = true, xuserrole = true, xuseremail = true, xuserverified = true, xusername = true,
    xusersession = true, xuserscheme = true, xuserkey = true, xuserscopes = true, xuserplan = true,
    xuserissuer = true, xgatehouseassertion = true, forwarded = true, xrealip = true, xoriginalurl = true,
    xrewriteurl = true, xhttpmethodoverride = true, xhttpmethod = true, xmethodoverride = true, proxy = true,
    xrequestid = true, xhttppathoverride = true, xscriptname = true, xsendfiletype = true, xaccelmapping = true,
    clientcert = true, clientcertchain = true,
}

-- What a refusal brings.
local told = {
    "WWW-Authenticate", "Retry-After", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "Allow",
    "X-Request-Id", "Cache-Control", "DPoP-Nonce",
}

-- About the connection of the client, not about its request.
local own = {
    host = true, connection = true, ["content-length"] = true, ["transfer-encoding"] = true, expect = true,
    upgrade = true, te = true, trailer = true, ["keep-alive"] = true,
}

-- Names of accessCookie and cookie, without __Host- or __Secure-.
local own_cookies = { accessToken = true, refreshToken = true }

-- A Cookie header without our cookies. A comma too may begin one: some servers join
-- two such fields by it.
local function backend_cookies(header)
    local kept = {}
    for cookie in header:gmatch("[^;]+") do
        local is_own = false
        for part in cookie:gmatch("[^,]+") do
            local name = part:match("^%s*([^=]-)%s*=") or ""
            local plain_name = name:gsub("^__Host%-", ""):gsub("^__Secure%-", "")
            is_own = is_own or own_cookies[plain_name] == true
        end
        if not is_own then
            table.insert(kept, (cookie:match("^%s*(.-)%s*$")))
        end
    end
    return table.concat(kept, "; ")
end

local function clean(r)
    for name in pairs(r:headers_in_table()) do
        local plain = name:lower():gsub("[^a-z0-9]", "")
        if cleared[plain] or plain:find("^xforwarded") or name:find("[_.]") then
            r.headers_in[name] = nil
        end
    end
    -- Apache removes the headers that Connection names, even those that are set below.
    local connection = r.headers_in["Connection"]
    if connection then
        r.headers_in["Connection"] = connection:lower():find("close", 1, true) and "close" or nil
    end
    r.headers_in["X-Forwarded-Proto"] = r.is_https and "https" or "http"
end

local function ask(r)
    local headers = {}
    for name, value in pairs(r:headers_in_table()) do
        if not own[name:lower()] then
            headers[name:lower()] = value
        end
    end
    headers["x-forwarded-method"] = r.method
    headers["x-forwarded-proto"] = r.is_https and "https" or "http"
    headers["x-forwarded-host"] = r.headers_in["Host"]
    headers["x-forwarded-uri"] = r.unparsed_uri
    headers["x-forwarded-for"] = r.useragent_ip
    http.TIMEOUT = 5
    local ok, status, answer = http.request({
        url = decide_url, headers = headers, sink = ltn12.sink.null(), redirect = false,
    })
    if not ok then
        return nil, {}
    end
    return status, answer
end

-- LuaSocket joins fields of one name, and Lua can set only one in a table of Apache: apache.conf adds these. None of
-- Gatehouse's own cookies has a comma.
local function tell_cookies(r, cookies)
    local count = 0
    for cookie in cookies:gmatch("[^, ][^,]*") do
        count = count + 1
        r.subprocess_env["gatehouse_cookie_" .. count] = cookie
    end
end

function decide(r)
    clean(r)
    if r.filename:sub(1, #main_listener) == main_listener then
        return apache2.DECLINED
    end
    local status, answer = ask(r)
    -- 303 leads a page visit to the sign-in.
    if type(status) ~= "number" or status < 400 and status ~= 200 and status ~= 303 then
        return 503
    end
    if status ~= 200 then
        for _, name in ipairs(told) do
            local value = answer[name:lower()]
            if value then
                r.err_headers_out[name] = value
            end
        end
        -- Apache takes it from here into the page of a redirect too.
        r.headers_out["Location"] = answer["location"]
        tell_cookies(r, answer["set-cookie"] or "")
        return status
    end
    for _, name in ipairs(set) do
        local value = answer[name:lower()]
        r.headers_in[name] = value ~= "" and value or nil
    end
    for _, name in ipairs(credentials) do
        r.headers_in[name] = nil
    end
    -- On a route with `authorization: backend` Gatehouse says so, and the field is the backend's.
    if answer["x-gatehouse-authorization"] ~= "backend" then
        r.headers_in["Authorization"] = nil
        r.headers_in["DPoP"] = nil
    end
    local cookie = r.headers_in["Cookie"]
    if cookie then
        local left = backend_cookies(cookie)
        r.headers_in["Cookie"] = left ~= "" and left or nil
    end
    return apache2.DECLINED
end
