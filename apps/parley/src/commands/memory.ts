import { pluralize } from '@parley/core';
import { type CliContext, formatJson } from '../cli.ts';
import { type Operations, operateAndPrint, withOperations } from '../operate.ts';
import { formatMinute, stripControlCharacters } from '../terminal/text.ts';

/**
 * `parley memory list` (G14): lists the memories visible to the owner, because anyone who can run
 * the command can read the data folder.
 */
export function listMemories(cli: CliContext): Promise<number> {
  return operateAndPrint(cli, 'memory/report', {}, ({ isOff, people }) => {
    if (isOff) return 'Memory is switched off in the settings (agent.memory).';
    const lines = people.flatMap(({ person, memories }) =>
      memories.map(({ file, id, facts, text }) => [file, id, facts, person ?? '-', text]),
    );
    return (
      lines.map((line) => stripControlCharacters(line.join('  '))).join('\n') || 'Nothing is saved.'
    );
  });
}

/** `parley memory search`: searches the memories; the exit code is 1 if nothing was found. */
export function searchMemories(cli: CliContext, words: string): Promise<number> {
  return operateAndPrint(
    cli,
    'memory/search',
    { words },
    ({ hits }) =>
      hits.map(({ source, text }) => stripControlCharacters(`${source}  ${text}`)).join('\n') ||
      'Nothing was found.',
    ({ hits }) => (hits.length === 0 ? 1 : 0),
  );
}

export function rebuildIndex(cli: CliContext): Promise<number> {
  return operateAndPrint(
    cli,
    'memory/rebuild',
    {},
    ({ memories }) =>
      `The index now contains ${pluralize(memories, 'memory', 'memories')} from memory/.`,
  );
}

const FILE = { name: 'MEMORY.md' };

/** `parley memory versions` (H07): lists the versions of MEMORY.md, newest first. */
export function listVersions(cli: CliContext): Promise<number> {
  return operateAndPrint(cli, 'files/open', FILE, ({ versions }) => {
    const lines = versions.flatMap(({ version, at, why: [why, ...changes] }) => [
      `${version}  ${formatMinute(at)} UTC  ${why ?? 'written by hand'}`,
      ...changes.map((change) => `  ${change}`),
    ]);
    return (
      lines.map(stripControlCharacters).join('\n') ||
      'There are no saved versions of MEMORY.md yet.'
    );
  });
}

/**
 * `parley memory diff`: compares a version of MEMORY.md with the current text. The default is the
 * latest version that differs.
 */
export function diffVersion(cli: CliContext, asked: string | undefined): Promise<number> {
  return withOperations(cli, 'files/open', async ({ perform }) => {
    const version = asked ?? (await findLastOtherVersion(perform));
    if (version === undefined) {
      cli.print(
        cli.json ? formatJson({ diff: null }) : 'There is no other saved version of MEMORY.md yet.',
      );
      return 1;
    }
    const { diff } = await perform('files/version', { ...FILE, version });
    if (cli.json) cli.print(formatJson({ version, diff }));
    else cli.print(stripControlCharacters(`${version} → MEMORY.md\n${diff || 'Nothing differs.'}`));
    return 0;
  });
}

async function findLastOtherVersion(perform: Operations['perform']): Promise<string | undefined> {
  const { versions } = await perform('files/open', FILE);
  for (const { version } of versions) {
    if ((await perform('files/version', { ...FILE, version })).diff !== '') return version;
  }
  return undefined;
}

export function restoreVersion(cli: CliContext, version: string): Promise<number> {
  return operateAndPrint(
    cli,
    'files/restore',
    { ...FILE, version },
    ({ kind }) =>
      kind === 'written'
        ? `MEMORY.md was restored to ${stripControlCharacters(version)}. The previous text was saved as a version.`
        : 'MEMORY.md is unchanged, because another process has just written to it. Run the command again.',
    ({ kind }) => (kind === 'written' ? 0 : 1),
  );
}
