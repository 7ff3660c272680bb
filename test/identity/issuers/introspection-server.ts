import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Test } from 'tap'
import { startBackend } from '../../setup/backend.ts'

type Members = Readonly<Record<string, unknown>>

/** A real introspection endpoint over HTTP (RFC 7662), whose tokens and behaviour a test may change. */
export async function startIntrospectionServer(t: Test, tokens: Readonly<Record<string, Members>> = {}) {
  const state: {
    readonly tokens: Map<string, Members>
    answer: ((request: IncomingMessage, response: ServerResponse) => void) | undefined
  } = { tokens: new Map(Object.entries(tokens)), answer: undefined }
  const { url, seen } = await startBackend(t, (request, response, { body }) => {
    if (state.answer) return state.answer(request, response)
    const members = state.tokens.get(new URLSearchParams(body).get('token') ?? '')
    response.setHeader('Content-Type', 'application/json')
    response.end(JSON.stringify(members ? { active: true, ...members } : { active: false }))
  })
  return {
    url,
    state,
    seen,
    /** Each token that was asked about, in order. */
    asked: () => seen.map(({ body }) => new URLSearchParams(body).get('token')),
    /** As an issuer has it. */
    endpoint: { url: `${url}/introspect`, clientId: 'gateway', clientSecret: 'client-secret' },
  }
}
