/**
 * Runs after an install in a checkout (as script `dependencies`, which npm runs there only): loads once what a start loads, so that Node keeps what it makes of the
 * sources and the first start is as quick as the others. Not TypeScript: where no Node is at hand that runs the
 * gateway, there is nothing to prepare, and whoever starts it is told.
 */
if (process.features.typescript) {
  const { cacheCompiledCode } = await import('../src/platform/package.ts')
  cacheCompiledCode()
  for (const loaded of ['cli/main', 'cli/serve', 'store/sqlite/store']) await import(`../src/${loaded}.ts`)
}
