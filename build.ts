import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, rmSync } from 'node:fs'

/** Builds dist/ for the package: Node strips types from sources of ours, not from those under node_modules. */

rmSync('dist', { recursive: true, force: true })
execFileSync('node_modules/.bin/tsc', ['-p', 'tsconfig.build.json'], { stdio: 'inherit' })
cpSync('src/store/redis/scripts', 'dist/store/redis/scripts', { recursive: true })
cpSync('src/pages/assets', 'dist/pages/assets', { recursive: true })
cpSync('src/portal/assets', 'dist/portal/assets', { recursive: true })
cpSync('src/status/assets', 'dist/status/assets', { recursive: true })
chmodSync('dist/main.js', 0o755)
