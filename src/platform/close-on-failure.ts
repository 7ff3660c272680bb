/**
 * Opens what is closed together. Where that fails, what is open by then is closed, in reverse order.
 * @param open puts what it opens on the stack; what it returns closes the stack
 */
export async function closeOnFailure<Opened>(
  open: (opened: AsyncDisposableStack) => Promise<Opened>,
): Promise<Opened> {
  const opened = new AsyncDisposableStack()
  try {
    return await open(opened)
  } catch (error) {
    await opened.disposeAsync()
    throw error
  }
}
