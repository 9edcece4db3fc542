import { localTimeIn, MemoryService, soulDiff } from '@parley/agent';
import { type Reader, silentLogger } from '@parley/core';
import {
  type MemoryVersions,
  openMemorySearch,
  VERSIONS_FOLDER,
  type Workspace,
  type WorkspaceView,
} from '@parley/workspace';
import { type Cli, withStore } from '../cli.ts';
import { chosenAgent } from '../settings.ts';
import { workspaceForCommand } from '../shared-lock.ts';
import { visible } from '../terminal/text.ts';

/** A user who can read the data folder sees what its owner sees; text of single chats is shown there only. */
const OWNER: Reader = { kind: 'owner', conversationId: 'terminal' };
const HITS = 10;

interface OpenMemory {
  readonly workspace: Workspace;
  readonly view: WorkspaceView;
  readonly service: MemoryService;
  readonly timeZone: string;
}

/** `parley memory …` (G14, H07): 0 fine, 1 not found or not done. Works beside a gateway or without one. */
function withMemory(cli: Cli, work: (memory: OpenMemory) => Promise<number>): Promise<number> {
  return withStore(cli, async (store, loaded) => {
    const { name, settings } = chosenAgent(loaded, cli.agent);
    const { workspace } = await workspaceForCommand(settings, store);
    const service = new MemoryService({ index: store.ofAgent(name).memories, log: silentLogger });
    const { timeZone } = settings.agent;
    return work({ workspace, view: workspace.for(OWNER), service, timeZone });
  });
}

export function listMemories(cli: Cli): Promise<number> {
  return withMemory(cli, async ({ service, view }) => {
    const all = await service.list(view);
    if (all.length === 0) cli.print('Nothing is saved.');
    for (const { name, entry } of all) {
      const { id, type, date, person, text } = entry;
      cli.print(visible([name, id, type, date ?? '-', person ?? '-', text].join('  ')));
    }
    return 0;
  });
}

export function searchMemories(cli: Cli, query: string): Promise<number> {
  return withMemory(cli, async ({ workspace, view }) => {
    const place = { conversation: OWNER.conversationId, session: 0 };
    const hits = await openMemorySearch(workspace).find(view, query, { ...place, most: HITS });
    for (const { source, text } of hits) cli.print(visible(`${source}  ${text}`));
    if (hits.length === 0) cli.print('Nothing was found.');
    return hits.length === 0 ? 1 : 0;
  });
}

export function rebuildIndex(cli: Cli): Promise<number> {
  return withMemory(cli, async ({ service, view }) => {
    const count = await service.rebuild(view);
    cli.print(`The index holds ${count} ${count === 1 ? 'memory' : 'memories'} of memory/ now.`);
    return 0;
  });
}

function withVersions(
  cli: Cli,
  work: (versions: MemoryVersions, timeZone: string) => Promise<number>,
): Promise<number> {
  return withMemory(cli, async ({ view, timeZone }) => {
    if (view.versions !== undefined) return work(view.versions, timeZone);
    cli.print('Memory is switched off in the settings (agent.memory).');
    return 1;
  });
}

export function listVersions(cli: Cli): Promise<number> {
  return withVersions(cli, async (versions, timeZone) => {
    const localTime = localTimeIn(timeZone);
    const all = await versions.list();
    if (all.length === 0) cli.print('No version of MEMORY.md is kept yet.');
    for (const { name, at } of all) {
      const { date, time } = localTime(at);
      const [why = 'as it was written by hand', ...changes] = await versions.why(name);
      cli.print(visible([name, `${date} ${time}`, why].join('  ')));
      for (const change of changes) cli.print(visible(`  ${change}`));
    }
    return 0;
  });
}

/** From a version to the current text; without one, from the last that differs. */
export function diffVersion(cli: Cli, asked: string | undefined): Promise<number> {
  return withVersions(cli, async (versions) => {
    const current = (await versions.current()) ?? '';
    const version = asked ?? (await lastOther(versions, current));
    if (version === undefined) {
      cli.print('No other version of MEMORY.md is kept yet.');
      return 1;
    }
    const old = await versions.read(version);
    if (old === null) return reportNoVersion(version, cli);
    cli.print(`${visible(version)} → MEMORY.md`);
    cli.print(visible(old.text === current ? 'Nothing differs.' : soulDiff(old.text, current)));
    return 0;
  });
}

async function lastOther(versions: MemoryVersions, current: string): Promise<string | undefined> {
  for (const { name } of await versions.list()) {
    if ((await versions.read(name))?.text !== current) return name;
  }
  return undefined;
}

export function restoreVersion(cli: Cli, version: string): Promise<number> {
  return withVersions(cli, async (versions) => {
    if ((await versions.read(version)) === null) return reportNoVersion(version, cli);
    const done = await versions.restore(version);
    if (done.kind === 'written') {
      cli.print(
        `MEMORY.md is again as it was in ${visible(version)}. The version before it is kept, too.`,
      );
      return 0;
    }
    const why = done.kind === 'refused' ? done.detail : 'another process changed it just now';
    cli.print(`MEMORY.md stays as it is: ${visible(why)}.`);
    return 1;
  });
}

function reportNoVersion(version: string, { print }: Cli): number {
  print(
    `There is no version ${visible(version)} of MEMORY.md. "parley memory versions" lists those in ${VERSIONS_FOLDER}.`,
  );
  return 1;
}
