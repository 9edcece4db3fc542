import { createMemoryKeeper, localTimeIn, type MemoryKeeper, soulDiff } from '@parley/agent';
import { type Reader, silentLogger } from '@parley/contracts';
import {
  type MemoryVersions,
  openMemorySearch,
  openWorkspace,
  VERSIONS_FOLDER,
  type Workspace,
} from '@parley/workspace';
import { type Cli, withStore } from '../cli.ts';
import { WORKSPACE_TEMPLATES } from '../data-folder.ts';
import { lockForCommand } from '../shared-lock.ts';
import { visible } from '../terminal/text.ts';

/** What `parley memory` is to do. */
export type MemoryOrder =
  | { readonly kind: 'list' }
  | { readonly kind: 'search'; readonly words: string }
  | { readonly kind: 'rebuild' }
  | VersionOrder;

/** Whoever can read the data folder sees what its owner sees; what belongs to single chats is shown there. */
const OWNER: Reader = { kind: 'owner', conversationId: 'terminal' };
const HITS = 10;

/**
 * `parley memory list|search|rebuild|versions|diff|restore` (G14, H07): 0 fine, 1 nothing was found. It works
 * on files and database, so it does not matter whether a gateway runs.
 */
export function memory(cli: Cli, order: MemoryOrder): Promise<number> {
  return withStore(cli, async (store, { settings }) => {
    const lock = lockForCommand(settings, store);
    const workspace = await openWorkspace({
      folder: settings.agent.workspace,
      templates: WORKSPACE_TEMPLATES,
      memory: settings.agent.memory ?? 'main-session',
      ...(lock !== undefined && { lock }),
    });
    const keeper = createMemoryKeeper({ index: store.memories, log: silentLogger });
    return runMemory(
      order,
      { workspace, keeper },
      { print: cli.print, timeZone: settings.agent.timeZone },
    );
  });
}

async function runMemory(
  order: MemoryOrder,
  { workspace, keeper }: { readonly workspace: Workspace; readonly keeper: MemoryKeeper },
  screen: Screen,
): Promise<number> {
  const { print } = screen;
  const view = workspace.for(OWNER);
  switch (order.kind) {
    case 'list': {
      const all = await keeper.list(view);
      if (all.length === 0) print('Nothing is saved.');
      for (const { name, entry } of all) {
        const { id, type, date, person, text } = entry;
        print(visible([name, id, type, date ?? '-', person ?? '-', text].join('  ')));
      }
      return 0;
    }
    case 'search': {
      const search = openMemorySearch(workspace);
      const place = { conversation: OWNER.conversationId, session: 0 };
      const hits = await search.find(view, order.words, { ...place, most: HITS });
      for (const { source, text } of hits) print(visible(`${source}  ${text}`));
      if (hits.length === 0) print('Nothing was found.');
      return hits.length === 0 ? 1 : 0;
    }
    case 'rebuild': {
      const count = await keeper.rebuild(view);
      print(`The index holds ${count} ${count === 1 ? 'memory' : 'memories'} of memory/ now.`);
      return 0;
    }
    default: {
      if (view.versions !== undefined) return runVersions(view.versions, order, screen);
      print('Memory is switched off in the settings (agent.memory).');
      return 1;
    }
  }
}

/** What is asked of the versions of MEMORY.md. */
type VersionOrder =
  | { readonly kind: 'versions' }
  | { readonly kind: 'diff'; readonly version: string | undefined }
  | { readonly kind: 'restore'; readonly version: string };

/** Where it is printed, and in which time zone. */
interface Screen {
  readonly print: (text: string) => void;
  readonly timeZone: string;
}

/**
 * `parley memory versions|diff|restore` (H07): 0 fine, 1 it was not done or there is nothing, and why is
 * printed. `diff` without a version: since the one before. Throws what the disk says.
 */
async function runVersions(
  versions: MemoryVersions,
  order: VersionOrder,
  screen: Screen,
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

async function list(versions: MemoryVersions, { print, timeZone }: Screen): Promise<number> {
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
  { print }: Screen,
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
  print(visible(changes));
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
  { print }: Screen,
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

function missing(version: string, print: Screen['print']): number {
  print(
    `There is no version ${visible(version)} of MEMORY.md. "parley memory versions" lists those in ${VERSIONS_FOLDER}.`,
  );
  return 1;
}
