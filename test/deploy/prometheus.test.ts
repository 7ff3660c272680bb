import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { composeServices } from './support/compose-file.ts'

// needs: promtool

t.test('promtool accepts the alerts', async (t) => {
  t.match(
    execFileSync('promtool', ['check', 'rules', 'deploy/dashboards/alerts.yaml'], { encoding: 'utf8' }),
    /SUCCESS/,
  )
})

t.test('promtool accepts the config of Prometheus, and the alerts where Compose mounts them', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-prometheus-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  for (const volume of composeServices().prometheus?.volumes ?? []) {
    const [source = '', target = ''] = volume.split(':')
    if (!source.startsWith('.')) continue
    mkdirSync(join(folder, target, '..'), { recursive: true })
    cpSync(join('deploy', source), join(folder, target))
  }
  const file = join(folder, 'etc/prometheus/prometheus.yaml')
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll('/etc/prometheus/', `${folder}/etc/prometheus/`))
  const output = execFileSync('promtool', ['check', 'config', file], { encoding: 'utf8' })
  t.match(output, /SUCCESS: 1 rule files found/)
})

t.test('the job and the address are those that alerts, board and gateway have', async (t) => {
  // The cast is sound: promtool has accepted the file.
  const { scrape_configs } = parse(readFileSync('deploy/compose/prometheus.yaml', 'utf8')) as {
    readonly scrape_configs: readonly [
      { readonly job_name: string; readonly dns_sd_configs: readonly [{ names: string[]; port: number }] },
    ]
  }
  const [{ job_name, dns_sd_configs }] = scrape_configs
  t.match(readFileSync('deploy/dashboards/alerts.yaml', 'utf8'), `job="${job_name}"`)
  const [{ names, port }] = dns_sd_configs
  t.ok(names.every((name) => name in composeServices()))
  t.equal(port, 9090)
})

t.test('Grafana finds its data source and the board where the files say', async (t) => {
  const grafana = composeServices().grafana
  // The casts are sound: the next lines fail otherwise.
  const source = parse(readFileSync('deploy/compose/grafana/datasource.yaml', 'utf8')) as {
    datasources: [{ url: string }]
  }
  t.equal(source.datasources[0].url, 'http://prometheus:9090')
  const board = parse(readFileSync('deploy/compose/grafana/dashboards.yaml', 'utf8')) as {
    providers: [{ options: { path: string } }]
  }
  const target = `:${board.providers[0].options.path}/`
  t.ok(
    grafana?.volumes?.some(
      (volume) => volume.startsWith('./dashboards/grafana.json') && volume.includes(target),
    ),
  )
})
