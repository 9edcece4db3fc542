import { localTimeIn, soulDiff } from '@parley/agent';
import { type MemoryVersions, VERSIONS_FOLDER } from '@parley/workspace';
import { visible } from '../terminal/visible-text.ts';

/** What is asked of the versions of MEMORY.md. */
export type VersionOrder =
  | { readonly kind: 'versions' }
  | { readonly kind: 'diff'; readonly version: string | undefined }
  | { readonly kind: 'restore'; readonly version: string };

/** Where it is printed, and in which time zone. */
export interface VersionScreen {
  readonly print: (text: string) => void;
  readonly timeZone: string;
}

/**
 * `parley memory versions|diff|restore` (H07): 0 fine, 1 it was not done or there is nothing, and why is
 * printed. `diff` without a version: since the one before. Throws what the disk says.
 */
export async function versionsCommand(
  versions: MemoryVersions,
  order: VersionOrder,
  screen: VersionScreen,
): Promise<number> {
  switch (order.kind) {
    case 'versions':
      return list(versions, screen);
    case 'diff':
      return diff(versions, order.version, screen);
    case 'restore':
      return restore(versions, order.version, screen);
  }
}

async function list(versions: MemoryVersions, { print, timeZone }: VersionScreen): Promise<number> {
  const localTime = localTimeIn(timeZone);
  const all = await versions.list();
  if (all.length === 0) print('No version of MEMORY.md is kept yet.');
  for (const { name, at } of all) {
    const { date, time } = localTime(at);
    const [why = 'as it was written by hand', ...changes] = await versions.why(name);
    print(visible([name, `${date} ${time}`, why].join('  ')));
    for (const change of changes) print(visible(`  ${change}`));
  }
  return 0;
}

/** From a version to what stands there now; the newest is mostly just that, so another one is meant. */
async function diff(
  versions: MemoryVersions,
  asked: string | undefined,
  { print }: VersionScreen,
): Promise<number> {
  const current = (await versions.current()) ?? '';
  const version = asked ?? (await lastOther(versions, current));
  if (version === undefined) {
    print('No other version of MEMORY.md is kept yet.');
    return 1;
  }
  const old = await versions.read(version);
  if (old === null) return missing(version, print);
  print(`${visible(version)} → MEMORY.md`);
  const changes = old.text === current ? 'Nothing differs.' : soulDiff(old.text, current);
  print(changes.split('\n').map(visible).join('\n'));
  return 0;
}

async function lastOther(versions: MemoryVersions, current: string): Promise<string | undefined> {
  for (const { name } of await versions.list()) {
    if ((await versions.read(name))?.text !== current) return name;
  }
  return undefined;
}

async function restore(
  versions: MemoryVersions,
  version: string,
  { print }: VersionScreen,
): Promise<number> {
  if ((await versions.read(version)) === null) return missing(version, print);
  const done = await versions.restore(version);
  if (done.kind === 'written') {
    print(
      `MEMORY.md is again as it was in ${visible(version)}. What stood there before is kept, too.`,
    );
    return 0;
  }
  const why = done.kind === 'refused' ? done.detail : 'somebody changed it just now';
  print(`MEMORY.md stays as it is: ${visible(why)}.`);
  return 1;
}

function missing(version: string, print: VersionScreen['print']): number {
  print(
    `There is no version ${visible(version)} of MEMORY.md. "parley memory versions" lists those in ${VERSIONS_FOLDER}.`,
  );
  return 1;
}
