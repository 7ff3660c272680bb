import type { Test } from 'tap'
import { until } from '../../setup/net.ts'
import { connectRaw } from '../../setup/raw-client.ts'

/** Resolves once no new connection is taken: from then on a shutdown is under way. */
export async function untilClosed(t: Test, url: string): Promise<void> {
  await until('no connection is taken', () =>
    connectRaw(t, url).then(
      (client) => void client.close(),
      () => true as const,
    ),
  )
}
