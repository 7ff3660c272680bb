import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Test } from 'tap'
import { startServer } from '../../setup/backend.ts'

export interface S3Backend {
  readonly url: string
  readonly objects: ReadonlyMap<string, Buffer>
  /** Every request, and whether its signature was right. */
  readonly requests: { readonly request: IncomingMessage; readonly isSigned: boolean }[]
}

/** An S3 server, as far as a copy needs one, that checks signatures (AWS Signature Version 4). */
export async function startS3Backend(t: Test, secretAccessKey: string): Promise<S3Backend> {
  const objects = new Map<string, Buffer>()
  const requests: S3Backend['requests'] = []
  const url = await startServer(t, async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const isSigned = hasSignature(request, secretAccessKey)
    requests.push({ request, isSigned })
    if (!isSigned) answer(response, 403, '<Error><Code>SignatureDoesNotMatch</Code></Error>')
    else serve(objects, { request, response, body: Buffer.concat(chunks) })
  })
  return { url, objects, requests }
}

interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly body: Buffer
}

function serve(objects: Map<string, Buffer>, { request, response, body }: Exchange): void {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://s3.test')
  const { method = '' } = request
  if (searchParams.has('list-type') || searchParams.has('prefix') || searchParams.has('delimiter')) {
    answer(response, 200, listOf(objects, pathname, searchParams.get('prefix') ?? ''))
    return
  }
  if (method === 'PUT') {
    objects.set(pathname, body)
    response.setHeader('ETag', etagOf(body))
    answer(response, 200, '')
    return
  }
  const object = objects.get(pathname)
  if (!object) {
    answer(response, 404, method === 'HEAD' ? '' : '<Error><Code>NoSuchKey</Code></Error>')
    return
  }
  response.setHeader('ETag', etagOf(object))
  response.setHeader('Last-Modified', new Date(0).toUTCString())
  response.setHeader('Content-Length', object.length)
  response.writeHead(200).end(method === 'HEAD' ? undefined : object)
}

function answer(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { 'Content-Type': 'application/xml' }).end(body)
}

function etagOf(bytes: Buffer): string {
  return `"${createHash('md5').update(bytes).digest('hex')}"`
}

function listOf(objects: ReadonlyMap<string, Buffer>, bucket: string, prefix: string): string {
  const root = `${bucket.replace(/\/$/, '')}/`
  const entries = [...objects]
    .filter(([path]) => path.startsWith(root + prefix))
    .map(
      ([path, bytes]) =>
        `<Contents><Key>${path.slice(root.length)}</Key><LastModified>1970-01-01T00:00:00.000Z</LastModified><ETag>${etagOf(bytes)}</ETag><Size>${bytes.length}</Size></Contents>`,
    )
  return `<ListBucketResult><IsTruncated>false</IsTruncated>${entries.join('')}</ListBucketResult>`
}

const authorization =
  /^AWS4-HMAC-SHA256 Credential=[^/]+\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/

/** https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html */
function hasSignature(request: IncomingMessage, secretAccessKey: string): boolean {
  const { method, url = '', headers } = request
  const [, date = '', region = '', service = '', names = '', signature = ''] =
    authorization.exec(headers.authorization ?? '') ?? []
  if (signature === '') return false
  const [path = '', query = ''] = url.split('?')
  const canonical = [
    method,
    path,
    query
      .split('&')
      .toSorted()
      .map((pair) => (pair === '' || pair.includes('=') ? pair : `${pair}=`))
      .join('&'),
    ...names.split(';').map((name) => `${name}:${String(headers[name] ?? '').trim()}`),
    '',
    names,
    headers['x-amz-content-sha256'],
  ].join('\n')
  const text = [
    'AWS4-HMAC-SHA256',
    headers['x-amz-date'],
    `${date}/${region}/${service}/aws4_request`,
    createHash('sha256').update(canonical).digest('hex'),
  ].join('\n')
  const key = [date, region, service, 'aws4_request'].reduce<Buffer | string>(hmac, `AWS4${secretAccessKey}`)
  return timingSafeEqual(hmac(key, text), Buffer.from(signature, 'hex'))
}

function hmac(key: Buffer | string, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}
