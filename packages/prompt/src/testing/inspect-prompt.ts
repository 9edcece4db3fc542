import type { Audience } from '@parley/core';
import { estimateTokens } from '@parley/workspace';
import type { AssembledPrompt, LayerReport } from '../assembled-prompt.ts';

/** Stands in the printed prompt where a provider's cache ends (P09). */
const BOUNDARY = '┄┄┄ cache boundary: above this line nothing changes from turn to turn ┄┄┄';

const READERS: Readonly<Record<Audience['kind'], string>> = {
  everyone: 'everyone',
  conversation: 'this chat',
  owner: 'the owner',
};

/** A prompt as a page for people (P17): what became of each layer, then every word the model gets. */
export function inspectPrompt(prompt: AssembledPrompt, title: string): string {
  const texts = {
    stable: prompt.system.filter((part) => part.stable).map((part) => part.text),
    changing: prompt.system.filter((part) => !part.stable).map((part) => part.text),
    user: prompt.userContext.map((part) => part.text),
  };
  return [
    `# ${title}, in the layout \`${prompt.layout}\``,
    summary(texts),
    '## Layers',
    tableOf('system', prompt.report),
    ...(texts.user.length === 0 ? [] : ['In the user message:', tableOf('user', prompt.report)]),
    absences(prompt.report),
    '## System prompt',
    fenced([...texts.stable, BOUNDARY, ...texts.changing]),
    '## Before the person’s words',
    texts.user.length === 0 ? 'Nothing.' : fenced(texts.user),
    '',
  ].join('\n\n');
}

interface Texts {
  readonly stable: readonly string[];
  readonly changing: readonly string[];
  readonly user: readonly string[];
}

function summary({ stable, changing, user }: Texts): string {
  const tokens = [stable, changing, user].map((texts) => estimateTokens(texts.join('\n\n')));
  const [kept = 0, changed = 0, before = 0] = tokens;
  const all = count(kept + changed + before);
  return `About ${all} tokens: ${count(kept)} up to the cache boundary, ${count(changed)} after it, ${count(before)} before the person’s words.`;
}

function tableOf(placement: 'system' | 'user', report: readonly LayerReport[]): string {
  const rows = report.filter((line) => line.placement === placement).flatMap(row);
  return ['| layer | from | may be seen by | characters | tokens |', '|---|---|---|--:|--:|']
    .concat(rows)
    .join('\n');
}

function row(line: LayerReport): string[] {
  if (line.outcome !== 'present') return [];
  const { layer, source, audience, characters, tokens, cut } = line;
  const whole = cut === null ? '' : `, cut: ${count(cut.shown)} of ${count(cut.total)} shown`;
  const size = `${count(characters)} | ${count(tokens)}`;
  return [`| ${layer} | ${source}${whole} | ${READERS[audience.kind]} | ${size} |`];
}

function absences(report: readonly LayerReport[]): string {
  const lines = report.flatMap((line) => {
    const why = reasonWhy(line);
    return why === null ? [] : [`- ${line.layer}: ${why}`];
  });
  if (lines.length === 0) return 'Nothing was left out.';
  return `Left out:\n${lines.join('\n')}`;
}

function reasonWhy(line: LayerReport): string | null {
  switch (line.outcome) {
    case 'present':
      return null;
    case 'absent':
      return line.reason;
    case 'withheld':
      return `withheld: ${line.source} is not for this reader`;
    case 'failed':
      return `failed: ${line.reason}`;
  }
}

function count(number: number): string {
  return number.toLocaleString('en-US');
}

/** A fence longer than any in the text, so that the text cannot close it. */
function fenced(texts: readonly string[]): string {
  const text = texts.join('\n\n');
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((ticks) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}text\n${text}\n${fence}`;
}
