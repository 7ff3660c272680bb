/** Limits and timeouts for slow clients. */

/** How much of a body is read after its response to keep the connection usable; beyond that the connection ends. */
export const discardedBytesMax = 1_048_576
/** How long a client may take for the rest of such a body. */
export const discardTimeoutMs = 2_000
/**
 * How much, how long, and with what pauses a client may go on sending after a response that ends the connection (as
 * nginx's lingering_close): many clients read nothing before they have sent all.
 */
export const lingeringBytesMax = 1_073_741_824
export const lingeringTimeMs = 30_000
export const lingeringTimeoutMs = 2_000
/** How long a client may go without reading any of its response (as nginx's send_timeout). */
export const sendTimeoutMs = 60_000
/** An idle connection is kept longer than announced, so that a client which relies on it is never cut off. */
export const keepAliveMarginMs = 1_000
