/** Runs something without the rights of root, where the tests have them. */
export async function runUnprivileged<Result>(run: () => Result | Promise<Result>): Promise<Result> {
  if (process.geteuid?.() !== 0) return run()
  process.seteuid?.(65_534)
  try {
    return await run()
  } finally {
    process.seteuid?.(0)
  }
}
