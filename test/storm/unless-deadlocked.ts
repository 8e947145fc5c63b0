/**
 * Does what takes locks in an order that the server knows nothing of, such as a test that moves the clock or empties the
 * tables. False: it met the server in a deadlock, and nothing happened.
 */
export async function unlessDeadlocked(act: () => Promise<unknown>): Promise<boolean> {
  try {
    await act();
    return true;
  } catch (error) {
    if ((error as { code?: string }).code !== '40P01') throw error;
    return false;
  }
}
