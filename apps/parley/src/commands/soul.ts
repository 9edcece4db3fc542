import { readFileSync } from 'node:fs';
import {
  localTimeIn,
  momentOf,
  nameOf,
  originOf,
  type SoulAnswer,
  type SoulKeeper,
  scoreWords,
  standingOf,
} from '@parley/agent';
import { reasonOf, silentLogger } from '@parley/contracts';
import type { SoulVersion } from '@parley/store';
import { openWorkspace } from '@parley/workspace';
import { type Cli, withStore } from '../cli.ts';
import { CliError, WORKSPACE_TEMPLATES } from '../data-folder.ts';
import { newId } from '../process-options.ts';
import type { LoadedSettings } from '../settings.ts';
import { lockForCommand } from '../shared-lock.ts';
import { openSoul } from '../soul.ts';
import { visible } from '../terminal/text.ts';

/** What `parley soul` is to do; `number` as it was typed. */
export type SoulOrder =
  | { readonly kind: 'list' }
  | {
      readonly kind: 'show' | 'diff' | 'apply' | 'veto' | 'rollback';
      readonly number: string;
    }
  | { readonly kind: 'propose'; readonly file: string; readonly reason: string };

/** Whoever can write the data folder. */
const BY = 'the command line';

/**
 * `parley soul …` (W06): 0 fine, 1 it was not done, and why is printed. It works on database and file, so it
 * does not matter whether a gateway runs; the next message is answered accordingly.
 */
export function soul({ folder, env, print }: Cli, order: SoulOrder): Promise<number> {
  return withStore({ folder, env }, async (store, { settings }) => {
    const lock = lockForCommand(settings, store);
    const opened = openSoul(settings, { folder, store, lock, clock: Date.now, log: silentLogger });
    const { workspace } = settings.agent;
    await openWorkspace({
      folder: workspace,
      templates: WORKSPACE_TEMPLATES,
      ...(lock !== undefined && { lock }),
    });
    await opened.begin();
    return runSoul(order, opened.keeper, { settings, print });
  });
}

interface Screen {
  readonly settings: LoadedSettings['settings'];
  readonly print: Cli['print'];
}

async function runSoul(order: SoulOrder, keeper: SoulKeeper, screen: Screen): Promise<number> {
  switch (order.kind) {
    case 'list': {
      await keeper.look();
      const versions = await keeper.list();
      if (versions.length === 0) screen.print('There is no SOUL.md yet.');
      for (const version of versions) screen.print(lineOf(version, screen));
      return 0;
    }
    case 'show':
    case 'diff': {
      const version = await keeper.get(numberOf(order.number));
      if (version === null) return missing(order.number, screen);
      screen.print(lineOf(version, screen));
      for (const { rule, words, points } of version.findings) {
        screen.print(visible(`  ${rule}: ${words}${points > 0 ? ` (-${points})` : ''}`));
      }
      const body = order.kind === 'show' ? version.text : version.diff;
      screen.print(`\n${visible(body)}`);
      return 0;
    }
    case 'apply':
      return told(await keeper.apply(numberOf(order.number), BY), screen);
    case 'veto':
      return told(await keeper.veto(numberOf(order.number), BY), screen);
    case 'rollback':
      return told(await keeper.rollback(numberOf(order.number), BY, newId('order')), screen);
    case 'propose': {
      const { reason, file } = order;
      const wish = { askedBy: newId('order'), author: 'person', by: BY, reason } as const;
      return told(await keeper.propose({ ...wish, text: textOf(file) }), screen);
    }
  }
}

function told(answer: SoulAnswer, screen: Screen): number {
  if (answer.kind === 'refused') {
    screen.print(answer.words.replaceAll('`', ''));
    return 1;
  }
  screen.print(lineOf(answer.version, screen));
  for (const { rule, words } of answer.version.findings)
    screen.print(visible(`  ${rule}: ${words}`));
  return answer.version.state === 'refused' ? 1 : 0;
}

function lineOf(version: SoulVersion, { settings }: Screen): string {
  const localTime = localTimeIn(settings.agent.timeZone);
  const { createdAt, reason } = version;
  const facts = [nameOf(version), momentOf(createdAt, localTime), standingOf(version, localTime)];
  return visible([...facts, scoreWords(version), originOf(version), reason].join('  '));
}

function missing(number: string, { print }: Screen): number {
  print(`There is no version ${visible(number)}.`);
  return 1;
}

/** `3`, `v3` and `v0-seed`. Throws CliError for anything else. */
function numberOf(text: string): number {
  const digits = /^v?(\d{1,9})(?:-seed)?$/.exec(text)?.[1];
  if (digits === undefined) {
    throw new CliError('usage', `A version is a number such as 3, not ${JSON.stringify(text)}.`);
  }
  return Number(digits);
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new CliError('usage', `${file} cannot be read (${reasonOf(error)}). Check the path.`);
  }
}
