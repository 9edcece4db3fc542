import { readFileSync } from 'node:fs';
import { decodeText, reasonOf } from '@parley/core';
import type { OutputOf } from '@parley/gateway/operations';
import type { Cli } from '../cli.ts';
import { CliError } from '../data-folder.ts';
import { operate } from '../operate.ts';
import { visible } from '../terminal/text.ts';

/** `parley soul …` (W06). Exit code 0 on success, 1 otherwise, with the reason printed. */
export function listSouls(cli: Cli): Promise<number> {
  return operate(
    cli,
    'soul/list',
    {},
    ({ versions }) => versions.map(soulLine).join('\n') || 'There is no SOUL.md yet.',
  );
}

export function showSoul(cli: Cli, number: number, what: 'text' | 'diff'): Promise<number> {
  return operate(cli, 'soul/show', { number }, (version) => {
    const points = ({ points }: Finding) => (points > 0 ? ` (-${points})` : '');
    return `${withFindings(version, points)}\n\n${visible(version[what])}`;
  });
}

export function decideSoul(
  cli: Cli,
  number: number,
  action: 'apply' | 'veto' | 'rollback',
): Promise<number> {
  return operate(cli, `soul/${action}`, { number }, withFindings, codeOf);
}

export function proposeSoul(cli: Cli, file: string, reason: string): Promise<number> {
  const proposal = { text: readSoulFile(file), reason };
  return operate(cli, 'soul/propose', proposal, withFindings, codeOf);
}

type ShownSoul = OutputOf<'soul/show'>;
type Finding = ShownSoul['findings'][number];

function codeOf({ state }: ShownSoul): number {
  return state === 'refused' ? 1 : 0;
}

function withFindings(version: ShownSoul, more = (_finding: Finding) => ''): string {
  const findings = version.findings.map((one) => visible(`  ${one.rule}: ${one.text}${more(one)}`));
  return [soulLine(version), ...findings].join('\n');
}

function soulLine({ name, made, status, score, origin, reason }: ShownSoul): string {
  return visible([name, made, status, score, origin, reason].join('  '));
}

function readSoulFile(file: string): string {
  try {
    return decodeText(readFileSync(file)).text;
  } catch (error) {
    throw new CliError('usage', `${file} cannot be read (${reasonOf(error)}). Check the path.`);
  }
}
