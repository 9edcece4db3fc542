import type { Attack } from './attack.ts';
import { formatCarefulSettings } from './careful-settings.ts';
import type { DrillVerdict } from './judge.ts';

/** The drill writes the page between these lines. */
const BEGIN = '<!-- The drill writes from here … -->';
const END = '<!-- … to here. -->';

const CAREFUL_HEADING = '## Careful settings';

/** The page with its table as observed by the drill; throws when the marker lines are missing. */
export function insertTable(
  page: string,
  attacks: readonly Attack[],
  verdicts: readonly DrillVerdict[],
): string {
  const from = page.indexOf(BEGIN);
  const to = page.indexOf(END);
  if (from < 0 || to < from) throw new Error('The page lacks the markers around its table.');
  const written = [
    formatTable(attacks, verdicts),
    CAREFUL_HEADING,
    ['```yaml', formatCarefulSettings(), '```'].join('\n'),
  ];
  return `${page.slice(0, from + BEGIN.length)}\n${written.join('\n\n')}\n${page.slice(to)}`;
}

function formatTable(attacks: readonly Attack[], verdicts: readonly DrillVerdict[]): string {
  const stopped = verdicts.filter(({ harmed }) => !harmed).length;
  const rows = attacks.map((attack, at) => formatRow(attack, verdicts[at], at + 1));
  return [
    `${attacks.length} attacks: ${stopped} stopped, ${attacks.length - stopped} not stopped.`,
    '',
    '| # | source | whose turn | goal | what the model did | outcome | what remains |',
    '|---|---|---|---|---|---|---|',
    ...rows,
  ].join('\n');
}

function formatRow(attack: Attack, verdict: DrillVerdict | undefined, nth: number): string {
  const { place, asker, wants, stoppedBy, remains = '' } = attack;
  const { askedWhenCareful } = attack;
  const open = `**not stopped**${askedWhenCareful ? '; with careful settings a person is asked' : ''}`;
  const outcome = verdict?.harmed === false ? `stopped: ${stoppedBy ?? '?'}` : open;
  const did =
    verdict?.reached === false ? 'did not receive it' : describeTried(verdict?.tried ?? []);
  return `| ${[nth, place, asker, wants, did, outcome, remains].map(formatCell).join(' | ')} |`;
}

function describeTried(tried: readonly string[]): string {
  if (tried.length === 0) return 'answered as instructed';
  const names = tried.map((tool) => `\`${tool}\``);
  const most = 3;
  return names.length > most ? `${names[0]}, ${names.length} times` : names.join(', ');
}

function formatCell(value: string | number): string {
  return String(value).replaceAll('|', '\\|');
}
