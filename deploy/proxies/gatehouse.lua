-- For HAProxy 2.6 or later: asks Gatehouse about a request. Whatever goes wrong, the request is not forwarded.

local decide = "http://127.0.0.1:8081/decide"

-- One name for each of identity.headers, and what else an answer brings.
local set = { "x-user-id", "x-user-role", "x-gatehouse-assertion", "x-request-id", "traceparent" }

-- What a backend could take for the caller's: nothing of it comes from a client.
local cleared = {
    "x-user-id", "x-user-role", "x-user-email", "x-user-verified", "x-user-name", "x-user-session",
    "x-user-scheme", "x-user-key", "x-user-scopes", "x-user-plan", "x-user-issuer", "x-gatehouse-assertion",
}

-- About the connection of the client, not about its request.
local own = {
    ["host"] = true, ["connection"] = true, ["content-length"] = true, ["transfer-encoding"] = true,
    ["expect"] = true, ["upgrade"] = true, ["te"] = true, ["trailer"] = true, ["keep-alive"] = true,
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

local function describe(txn)
    local headers = {}
    for name, values in pairs(txn.http:req_get_headers()) do
        if not own[name] then
            headers[name] = {}
            for _, value in pairs(values) do
                table.insert(headers[name], value)
            end
        end
    end
    headers["x-forwarded-method"] = { txn.f:method() }
    headers["x-forwarded-uri"] = { txn.f:pathq() }
    return headers
end

local function refuse(txn, answer)
    local reply = txn:reply({ status = answer.status })
    for name, values in pairs(answer.headers) do
        if not own[name] then
            for _, value in pairs(values) do
                reply:add_header(name, value)
            end
        end
    end
    reply:set_body(answer.body)
    txn:done(reply)
end

core.register_action("gatehouse", { "http-req" }, function(txn)
    local answer = core.httpclient():get({ url = decide, headers = describe(txn), timeout = 5000 })
    local status = answer ~= nil and answer.status or 0
    -- 303 leads a page visit to the sign-in.
    if status < 400 and status ~= 200 and status ~= 303 then
        txn:done(txn:reply({ status = 503 }))
    elseif status ~= 200 then
        refuse(txn, answer)
    else
        local authorization = answer.headers["x-gatehouse-authorization"]
        txn:set_var("txn.gatehouse_authorization", authorization ~= nil and authorization[0] or "")
        for _, name in ipairs(cleared) do
            txn.http:req_del_header(name)
        end
        for _, name in ipairs(set) do
            local values = answer.headers[name]
            txn.http:req_del_header(name)
            if values ~= nil and values[0] ~= "" then
                txn.http:req_set_header(name, values[0])
            end
        end
        local cookies = txn.http:req_get_headers()["cookie"]
        if cookies ~= nil then
            local left = backend_cookies(table.concat(cookies, "; ", 0))
            txn.http:req_del_header("cookie")
            if left ~= "" then
                txn.http:req_set_header("cookie", left)
            end
        end
    end
end)
