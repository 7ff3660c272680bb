/** How much, and for how long, a client is tolerated. */

/** How much of a body is read after its answer to keep the connection usable; beyond that the connection ends. */
export const discardedBytesMax = 1_048_576
/** How much, and how long, a client may go on sending after an answer that ends the connection. */
export const lingeringBytesMax = 16_777_216
export const lingeringMs = 2_000
/** How long a client may go without reading any of its answer. */
export const stalledMs = 600_000
/** An idle connection is kept longer than announced, so that a client which keeps to it is never cut off. */
export const keepAliveMarginMs = 1_000
