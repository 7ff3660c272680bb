/** How much is borne with a client; all of it has an end. */

/** How much of a body is read after its answer, so that the connection can go on; else it ends. */
export const discardedBytesMax = 1_048_576
/** How much, and how long, a client may go on sending after an answer that ends the connection. */
export const lingeringBytesMax = 16_777_216
export const lingeringMs = 2_000
/** How long a client may take nothing of its answer. */
export const stalledMs = 600_000
/** An idle connection is kept longer than is said, so that a client which believes it is never cut. */
export const keepAliveMarginMs = 1_000
