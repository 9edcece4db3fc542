import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { reasonOf } from '@parley/core';

const TIMEOUT_MS = 5_000;

/** Runs a command that does nothing, in a folder of its own. The reason why that failed; null: it worked. */
export async function sandboxProblem(): Promise<string | null> {
  const { openSandbox } = await import('@parley/tools/sandbox');
  const workspace = await mkdtemp(join(tmpdir(), 'parley-audit-'));
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const { exitCode } = await openSandbox({ workspace, forbidden: [] }).run('true', { signal });
    return exitCode === 0 ? null : 'A command that does nothing failed in the sandbox.';
  } catch (error) {
    return reasonOf(error);
  } finally {
    await rm(workspace, { recursive: true, force: true });
  }
}
