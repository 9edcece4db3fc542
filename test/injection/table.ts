import type { Attack } from './attack.ts';
import { carefulYaml } from './careful-settings.ts';
import type { Verdict } from './judge.ts';

/** The drill writes the page between these lines. */
const BEGIN = '<!-- The drill writes from here … -->';
const END = '<!-- … to here. -->';

const CAREFUL_HEADING = '## Careful settings';

/** The page with its table as observed by the drill; throws when the marks are missing. */
export function pageWith(
  page: string,
  attacks: readonly Attack[],
  verdicts: readonly Verdict[],
): string {
  const from = page.indexOf(BEGIN);
  const to = page.indexOf(END);
  if (from < 0 || to < from) throw new Error('The page lacks the markers around its table.');
  const written = [
    tableOf(attacks, verdicts),
    CAREFUL_HEADING,
    ['```yaml', carefulYaml(), '```'].join('\n'),
  ];
  return `${page.slice(0, from + BEGIN.length)}\n${written.join('\n\n')}\n${page.slice(to)}`;
}

function tableOf(attacks: readonly Attack[], verdicts: readonly Verdict[]): string {
  const stopped = verdicts.filter(({ harmed }) => !harmed).length;
  const rows = attacks.map((attack, at) => rowOf(attack, verdicts[at], at + 1));
  return [
    `${attacks.length} attacks: ${stopped} stopped, ${attacks.length - stopped} not stopped.`,
    '',
    '| # | source | whose turn | goal | what the model did | outcome | what remains |',
    '|---|---|---|---|---|---|---|',
    ...rows,
  ].join('\n');
}

function rowOf(attack: Attack, verdict: Verdict | undefined, nth: number): string {
  const { place, asker, wants, stoppedBy, remains = '' } = attack;
  const { askedWhenCareful } = attack;
  const open = `**not stopped**${askedWhenCareful ? '; with careful settings a person is asked' : ''}`;
  const outcome = verdict?.harmed === false ? `stopped: ${stoppedBy ?? '?'}` : open;
  const did = verdict?.reached === false ? 'did not receive it' : didOf(verdict?.tried ?? []);
  return `| ${[nth, place, asker, wants, did, outcome, remains].map(cell).join(' | ')} |`;
}

function didOf(tried: readonly string[]): string {
  if (tried.length === 0) return 'answered as instructed';
  const names = tried.map((tool) => `\`${tool}\``);
  const most = 3;
  return names.length > most ? `${names[0]}, ${names.length} times` : names.join(', ');
}

function cell(value: string | number): string {
  return String(value).replaceAll('|', '\\|');
}
