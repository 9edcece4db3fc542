import { stat } from 'node:fs/promises';
import { type Clock, systemTime } from '@parley/core';
import type { BuiltPage, PageBuild } from './build-page.ts';

/** File systems may round modification times down by up to this much, in ms. */
const FILE_TIMES_MS = 20;

interface PageSource {
  readonly path: string;
  /** The file's size and modification time; null if it may have changed after the build read it. */
  readonly state: string | null;
}

interface CachedPageBuild {
  readonly page: BuiltPage;
  readonly sources: readonly PageSource[];
}

/**
 * Returns the page. It is rebuilt only if a source has changed, because a build takes a quarter of
 * a second of processor time. Rejects with the error from `build`; the next call tries again.
 */
export function createPageRebuilder(
  build: () => Promise<PageBuild>,
  clock: Clock = systemTime.clock,
): () => Promise<BuiltPage> {
  let kept: Promise<CachedPageBuild> | undefined;
  const rebuild = async (before?: CachedPageBuild): Promise<CachedPageBuild> => {
    if (before !== undefined && (await areSourcesUnchanged(before.sources))) return before;
    const startedAt = clock() - FILE_TIMES_MS;
    const { page, inputs } = await build();
    const sources = inputs.map(async (path) => ({
      path,
      state: await readFileState(path, startedAt),
    }));
    return { page, sources: await Promise.all(sources) };
  };
  return async () => {
    const last = kept?.catch(() => undefined);
    kept = (async () => rebuild(await last))();
    return (await kept).page;
  };
}

/**
 * The state of a file; null if it does not exist or has changed since `before`, in ms since 1970.
 */
async function readFileState(
  path: string,
  before = Number.POSITIVE_INFINITY,
): Promise<string | null> {
  const found = await stat(path).catch(() => null);
  return found === null || found.mtimeMs >= before ? null : `${found.size} ${found.mtimeMs}`;
}

async function areSourcesUnchanged(sources: readonly PageSource[]): Promise<boolean> {
  const same = sources.map(
    async ({ path, state }) => state !== null && state === (await readFileState(path)),
  );
  return (await Promise.all(same)).every(Boolean);
}
