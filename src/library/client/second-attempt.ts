/** How much of a body is kept that may be a stream. */
const keptBytesMax = 1_048_576

/**
 * Prepares for sending a request once more, before it is sent. A body that came in a Request is kept up to 1 MiB: nothing
 * tells whether it is a stream, which may be endless.
 * @param given the body that the request was made with, beside a URL or a Request; null = none
 * @returns makes it again; undefined = its body cannot be sent again
 */
export function prepareSecondAttempt(
  request: Request,
  given: RequestInit['body'] | null,
): () => Request | undefined {
  if (given instanceof ReadableStream) return () => undefined
  const copy = request.clone()
  if (request.body === null || given !== null) return () => copy
  let body: Blob | undefined
  // A body that fails makes the first attempt fail, too.
  collect(copy, keptBytesMax).then(
    (whole) => {
      body = whole
    },
    () => {},
  )
  return () => body && new Request(copy, { body })
}

/** @returns undefined where it is longer */
async function collect({ body }: Request, bytesMax: number): Promise<Blob | undefined> {
  const chunks: Uint8Array<ArrayBuffer>[] = []
  const reader = body?.getReader()
  let bytes = 0
  for (;;) {
    const { value } = (await reader?.read()) ?? {}
    if (value === undefined) return new Blob(chunks)
    chunks.push(value)
    bytes += value.length
    if (bytes <= bytesMax) continue
    // Not awaited: it ends with the other branch, which is being sent.
    reader?.cancel().catch(() => {})
    return undefined
  }
}
