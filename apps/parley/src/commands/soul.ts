import { readFileSync } from 'node:fs';
import { decodeText, reasonOf } from '@parley/core';
import type { OutputOf } from '@parley/gateway/operations';
import type { CliContext } from '../cli.ts';
import { CliError } from '../data-folder.ts';
import { operateAndPrint } from '../operate.ts';
import { stripControlCharacters } from '../terminal/text.ts';

/**
 * `parley soul …` (W06): lists, shows and changes the versions of SOUL.md. The exit code is 0 on
 * success and 1 otherwise, with the reason printed.
 */
export function listSouls(cli: CliContext): Promise<number> {
  return operateAndPrint(
    cli,
    'soul/list',
    {},
    ({ versions }) => versions.map(formatSoul).join('\n') || 'There is no SOUL.md yet.',
  );
}

export function showSoul(cli: CliContext, number: number, what: 'text' | 'diff'): Promise<number> {
  return operateAndPrint(cli, 'soul/show', { number }, (version) => {
    const points = ({ points }: SoulCheckFinding) => (points > 0 ? ` (-${points})` : '');
    return `${appendFindings(version, points)}\n\n${stripControlCharacters(version[what])}`;
  });
}

export function decideSoul(
  cli: CliContext,
  number: number,
  action: 'apply' | 'veto' | 'rollback',
): Promise<number> {
  return operateAndPrint(cli, `soul/${action}`, { number }, appendFindings, getExitCode);
}

export function proposeSoul(cli: CliContext, file: string, reason: string): Promise<number> {
  const proposal = { text: readSoulFile(file), reason };
  return operateAndPrint(cli, 'soul/propose', proposal, appendFindings, getExitCode);
}

type SoulDetails = OutputOf<'soul/show'>;
type SoulCheckFinding = SoulDetails['findings'][number];

function getExitCode({ state }: SoulDetails): number {
  return state === 'refused' ? 1 : 0;
}

function appendFindings(version: SoulDetails, more = (_finding: SoulCheckFinding) => ''): string {
  const findings = version.findings.map((one) =>
    stripControlCharacters(`  ${one.rule}: ${one.text}${more(one)}`),
  );
  return [formatSoul(version), ...findings].join('\n');
}

function formatSoul({ name, made, status, score, origin, reason }: SoulDetails): string {
  return stripControlCharacters([name, made, status, score, origin, reason].join('  '));
}

function readSoulFile(file: string): string {
  try {
    return decodeText(readFileSync(file)).text;
  } catch (error) {
    throw new CliError('usage', `${file} cannot be read (${reasonOf(error)}). Check the path.`);
  }
}
