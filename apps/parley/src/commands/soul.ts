import { readFileSync } from 'node:fs';
import {
  localTimeIn,
  momentOf,
  nameOf,
  originOf,
  type SoulAnswer,
  type SoulService,
  scoreWords,
  standingOf,
} from '@parley/agent';
import { reasonOf, silentLogger } from '@parley/core';
import type { SoulAction } from '@parley/gateway/api';
import type { SoulVersion } from '@parley/store';
import { type Cli, withStore } from '../cli.ts';
import { CliError } from '../data-folder.ts';
import { newId } from '../process-options.ts';
import { workspaceForCommand } from '../shared-lock.ts';
import { decide, openSoul } from '../soul.ts';
import { visible } from '../terminal/text.ts';

/** Whoever can write the data folder. */
const BY = 'the command line';

interface Screen {
  readonly print: Cli['print'];
  readonly localTime: ReturnType<typeof localTimeIn>;
}

/** `parley soul …` (W06): 0 fine, 1 not done, and why. Works beside a gateway or without one. */
function withSoul(
  { folder, env, print }: Cli,
  work: (service: SoulService, screen: Screen) => Promise<number>,
): Promise<number> {
  return withStore({ folder, env }, async (store, { settings }) => {
    const { lock } = await workspaceForCommand(settings, store);
    const opened = openSoul(settings, { folder, store, lock, clock: Date.now, log: silentLogger });
    await opened.service.sync('at-once');
    return work(opened.service, { print, localTime: localTimeIn(settings.agent.timeZone) });
  });
}

export function listSouls(cli: Cli): Promise<number> {
  return withSoul(cli, async (service, screen) => {
    await service.look();
    const versions = await service.list();
    if (versions.length === 0) screen.print('There is no SOUL.md yet.');
    for (const version of versions) screen.print(lineOf(version, screen));
    return 0;
  });
}

export function showSoul(cli: Cli, number: number, what: 'show' | 'diff'): Promise<number> {
  return withSoul(cli, async (service, screen) => {
    const version = await service.get(number);
    if (version === null) {
      screen.print(`There is no version ${number}.`);
      return 1;
    }
    screen.print(lineOf(version, screen));
    for (const { rule, words, points } of version.findings) {
      screen.print(visible(`  ${rule}: ${words}${points > 0 ? ` (-${points})` : ''}`));
    }
    screen.print(`\n${visible(what === 'show' ? version.text : version.diff)}`);
    return 0;
  });
}

export function decideSoul(cli: Cli, number: number, action: SoulAction): Promise<number> {
  return withSoul(cli, async (service, screen) =>
    printAnswer(await decide(service, number, action, BY), screen),
  );
}

export function proposeSoul(cli: Cli, file: string, reason: string): Promise<number> {
  return withSoul(cli, async (service, screen) => {
    const wish = { askedBy: newId('order'), author: 'person', by: BY, reason } as const;
    return printAnswer(await service.propose({ ...wish, text: textOf(file) }), screen);
  });
}

function printAnswer(answer: SoulAnswer, screen: Screen): number {
  if (answer.kind === 'refused') {
    screen.print(answer.words.replaceAll('`', ''));
    return 1;
  }
  screen.print(lineOf(answer.version, screen));
  for (const { rule, words } of answer.version.findings)
    screen.print(visible(`  ${rule}: ${words}`));
  return answer.version.state === 'refused' ? 1 : 0;
}

function lineOf(version: SoulVersion, { localTime }: Screen): string {
  const { createdAt, reason } = version;
  const facts = [nameOf(version), momentOf(createdAt, localTime), standingOf(version, localTime)];
  return visible([...facts, scoreWords(version), originOf(version), reason].join('  '));
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new CliError('usage', `${file} cannot be read (${reasonOf(error)}). Check the path.`);
  }
}
