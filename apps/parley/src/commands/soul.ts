import { readFileSync } from 'node:fs';
import { decodeText, reasonOf } from '@parley/core';
import type { ShownSoul, SoulAction } from '@parley/gateway/api';
import { withApi } from '../api.ts';
import type { Cli } from '../cli.ts';
import { CliError } from '../data-folder.ts';
import { visible } from '../terminal/text.ts';

/** `parley soul …` (W06): 0 fine, 1 not done, and why. */
export function listSouls(cli: Cli): Promise<number> {
  return withApi(cli, '/api/soul', async ({ ask }) => {
    const { versions } = await ask<{ readonly versions: readonly ShownSoul[] }>('');
    if (versions.length === 0) cli.print('There is no SOUL.md yet.');
    for (const version of versions) cli.print(lineOf(version));
    return 0;
  });
}

export function showSoul(cli: Cli, number: number, what: 'text' | 'diff'): Promise<number> {
  return withApi(cli, '/api/soul', async ({ ask }) => {
    const version = await ask<ShownSoul>(`/${number}`);
    cli.print(lineOf(version));
    for (const { rule, text, points } of version.findings) {
      cli.print(visible(`  ${rule}: ${text}${points > 0 ? ` (-${points})` : ''}`));
    }
    cli.print(`\n${visible(version[what])}`);
    return 0;
  });
}

export function decideSoul(cli: Cli, number: number, action: SoulAction): Promise<number> {
  return withApi(cli, '/api/soul', async ({ ask }) =>
    printAnswer(await ask(`/${number}/${action}`, { method: 'POST' }), cli),
  );
}

export function proposeSoul(cli: Cli, file: string, reason: string): Promise<number> {
  return withApi(cli, '/api/soul', async ({ ask }) =>
    printAnswer(await ask('', { body: { text: textOf(file), reason } }), cli),
  );
}

function printAnswer(version: ShownSoul, { print }: Cli): number {
  print(lineOf(version));
  for (const { rule, text } of version.findings) print(visible(`  ${rule}: ${text}`));
  return version.state === 'refused' ? 1 : 0;
}

function lineOf({ name, made, status, score, origin, reason }: ShownSoul): string {
  return visible([name, made, status, score, origin, reason].join('  '));
}

function textOf(file: string): string {
  try {
    return decodeText(readFileSync(file)).text;
  } catch (error) {
    throw new CliError('usage', `${file} cannot be read (${reasonOf(error)}). Check the path.`);
  }
}
