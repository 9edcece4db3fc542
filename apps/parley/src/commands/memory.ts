import { countOf } from '@parley/core';
import { type Cli, jsonText } from '../cli.ts';
import { type Operations, operate, withOperations } from '../operate.ts';
import { minuteText, visible } from '../terminal/text.ts';

/** `parley memory list` (G14): anyone who can read the data folder sees what its owner sees. */
export function listMemories(cli: Cli): Promise<number> {
  return operate(cli, 'memory/report', {}, ({ isOff, people }) => {
    if (isOff) return 'Memory is switched off in the settings (agent.memory).';
    const lines = people.flatMap(({ person, memories }) =>
      memories.map(({ file, id, facts, text }) => [file, id, facts, person ?? '-', text]),
    );
    return lines.map((line) => visible(line.join('  '))).join('\n') || 'Nothing is saved.';
  });
}

/** `parley memory search`: exit code 1 if nothing was found. */
export function searchMemories(cli: Cli, words: string): Promise<number> {
  return operate(
    cli,
    'memory/search',
    { words },
    ({ hits }) =>
      hits.map(({ source, text }) => visible(`${source}  ${text}`)).join('\n') ||
      'Nothing was found.',
    ({ hits }) => (hits.length === 0 ? 1 : 0),
  );
}

export function rebuildIndex(cli: Cli): Promise<number> {
  return operate(
    cli,
    'memory/rebuild',
    {},
    ({ memories }) =>
      `The index now holds ${countOf(memories, 'memory', 'memories')} from memory/.`,
  );
}

const FILE = { name: 'MEMORY.md' };

/** `parley memory versions` (H07): lists the versions of MEMORY.md, newest first. */
export function listVersions(cli: Cli): Promise<number> {
  return operate(cli, 'files/open', FILE, ({ versions }) => {
    const lines = versions.flatMap(({ version, at, why: [why, ...changes] }) => [
      `${version}  ${minuteText(at)} UTC  ${why ?? 'written by hand'}`,
      ...changes.map((change) => `  ${change}`),
    ]);
    return lines.map(visible).join('\n') || 'No version of MEMORY.md is kept yet.';
  });
}

/**
 * `parley memory diff`: compares a version with the current text; by default the latest version
 * that differs from it.
 */
export function diffVersion(cli: Cli, asked: string | undefined): Promise<number> {
  return withOperations(cli, 'files/open', async ({ perform }) => {
    const version = asked ?? (await lastOther(perform));
    if (version === undefined) {
      cli.print(cli.json ? jsonText({ diff: null }) : 'No other version of MEMORY.md is kept yet.');
      return 1;
    }
    const { diff } = await perform('files/version', { ...FILE, version });
    if (cli.json) cli.print(jsonText({ version, diff }));
    else cli.print(visible(`${version} → MEMORY.md\n${diff || 'Nothing differs.'}`));
    return 0;
  });
}

async function lastOther(perform: Operations['perform']): Promise<string | undefined> {
  const { versions } = await perform('files/open', FILE);
  for (const { version } of versions) {
    if ((await perform('files/version', { ...FILE, version })).diff !== '') return version;
  }
  return undefined;
}

export function restoreVersion(cli: Cli, version: string): Promise<number> {
  return operate(
    cli,
    'files/restore',
    { ...FILE, version },
    ({ kind }) =>
      kind === 'written'
        ? `MEMORY.md was restored to ${visible(version)}. The text before that is kept as a version.`
        : 'MEMORY.md is unchanged, because another process has just written to it. Run the command again.',
    ({ kind }) => (kind === 'written' ? 0 : 1),
  );
}
