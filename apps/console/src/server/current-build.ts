import { stat } from 'node:fs/promises';
import { type Clock, systemTime } from '@parley/core';
import type { BuiltPage, PageBuild } from './build-page.ts';

/** File systems round modification times down by up to this much, in ms. */
const FILE_TIMES_MS = 20;

interface Source {
  readonly path: string;
  /** Its size and modification time; null if it may have changed after the build read it. */
  readonly state: string | null;
}

interface KeptBuild {
  readonly page: BuiltPage;
  readonly sources: readonly Source[];
}

/**
 * Returns the page, rebuilding it only when a source has changed, because a build takes a quarter
 * of a second of processor time. Rejects with the error of `build`; the next call tries again.
 */
export function keepCurrent(
  build: () => Promise<PageBuild>,
  clock: Clock = systemTime.clock,
): () => Promise<BuiltPage> {
  let kept: Promise<KeptBuild> | undefined;
  const rebuild = async (before?: KeptBuild): Promise<KeptBuild> => {
    if (before !== undefined && (await areUnchanged(before.sources))) return before;
    const startedAt = clock() - FILE_TIMES_MS;
    const { page, inputs } = await build();
    const sources = inputs.map(async (path) => ({ path, state: await stateOf(path, startedAt) }));
    return { page, sources: await Promise.all(sources) };
  };
  return async () => {
    const last = kept?.catch(() => undefined);
    kept = (async () => rebuild(await last))();
    return (await kept).page;
  };
}

/** The state of a file; null if it is gone or has changed since `before`, in ms since 1970. */
async function stateOf(path: string, before = Number.POSITIVE_INFINITY): Promise<string | null> {
  const found = await stat(path).catch(() => null);
  return found === null || found.mtimeMs >= before ? null : `${found.size} ${found.mtimeMs}`;
}

async function areUnchanged(sources: readonly Source[]): Promise<boolean> {
  const same = sources.map(
    async ({ path, state }) => state !== null && state === (await stateOf(path)),
  );
  return (await Promise.all(same)).every(Boolean);
}
