/** The names of the gateway's own metrics begin with it; those of metrics about the process do not. */
export const ownPrefix = 'gatehouse_'

/**
 * The names of metrics that other code refers to: the status page shows them, or they are merged by name. Each is
 * written once, as the status page would show 0 for a name that no metric has.
 */
export const metricNames = {
  requests: 'gatehouse_http_requests_total',
  requestsByVersion: 'gatehouse_http_requests_by_version_total',
  requestsInFlight: 'gatehouse_http_requests_in_flight',
  requestDuration: 'gatehouse_http_request_duration_seconds',
  overhead: 'gatehouse_overhead_duration_seconds',
  upstreamDuration: 'gatehouse_upstream_request_duration_seconds',
  rateLimited: 'gatehouse_rate_limited_total',
  webSocketsOpen: 'gatehouse_websockets_open',
  targetHealthy: 'gatehouse_upstream_target_healthy',
  targetAddresses: 'gatehouse_upstream_target_addresses',
  decisions: 'gatehouse_auth_decisions_total',
  keyCache: 'gatehouse_key_cache_requests_total',
  tokensIssued: 'gatehouse_tokens_issued_total',
  storeUp: 'gatehouse_store_up',
  storeWritable: 'gatehouse_store_writable',
  revocationDelay: 'gatehouse_revocation_delay_seconds',
  lastReload: 'gatehouse_config_last_reload_successful',
  reloads: 'gatehouse_config_reloads_total',
  workersUp: 'gatehouse_workers',
  workerHangs: 'gatehouse_worker_hangs_total',
  workerDeaths: 'gatehouse_worker_deaths_total',
} as const
