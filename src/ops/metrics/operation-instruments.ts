import { Counter, Gauge, type Registry } from 'prom-client'
import { FastCounter, register } from './instrument.ts'

/** Instruments for the process: its config, its workers, its traces and its build. */
export function createOperationInstruments(registry: Registry, version: string) {
  const registers = [registry]
  const lastReload = new Gauge({
    name: 'gatehouse_config_last_reload_successful',
    help: '1 = the last reload succeeded, or there was none; 0 = it was rejected, and the previous config stays active.',
    aggregator: 'min',
    registers,
  })
  lastReload.set(1)
  const reloads = new Counter({
    name: 'gatehouse_config_reloads_total',
    help: 'Reloads, by outcome: taken, refused (the config has problems) or failed (it could not be applied).',
    labelNames: ['outcome'],
    registers,
  })
  const workersUp = new Gauge({
    name: 'gatehouse_workers',
    help: 'Workers currently serving requests.',
    registers,
  })
  workersUp.set(1)
  const workerHangs = new Counter({
    name: 'gatehouse_worker_hangs_total',
    help: 'Workers that stopped responding and were killed and replaced.',
    registers,
  })
  const workerDeaths = new Counter({
    name: 'gatehouse_worker_deaths_total',
    help: 'Workers that exited unexpectedly; each is replaced.',
    registers,
  })
  const usageLost = new Counter({
    name: 'gatehouse_usage_lost_total',
    help: 'Requests that were served but are missing in the usage of their accounts: too much waited to be written while the store was unavailable.',
    registers,
  })
  const spans = new FastCounter({
    name: 'gatehouse_trace_spans_total',
    help: 'Spans of traces, by outcome: sent, dropped (the queue was full) or failed (the collector did not accept them).',
    labelNames: ['outcome'],
  })
  register(registry, [spans])
  new Gauge({
    name: 'gatehouse_build_info',
    aggregator: 'first',
    help: 'Always 1; the labels identify the running build.',
    labelNames: ['version', 'node'],
    registers,
  }).set({ version, node: process.version }, 1)

  return { lastReload, reloads, workersUp, workerDeaths, workerHangs, usageLost, spans }
}
