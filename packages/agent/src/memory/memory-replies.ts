import { formatInlineCode, pluralize, toLiteralLine, toLiteralMarkdown } from '@parley/core';
import type { ForgottenCounts, PersonForgetResult, RawSearchResult } from '@parley/store';
import type { MemoryRemoval, SavedMemory } from '@parley/workspace';

/** The most memories that one reply lists. */
const LISTED = 40;

/** The people whose messages are removed, and the pronoun for them in the report. */
export interface ForgottenPeople {
  readonly persons: readonly string[];
  /** True if everything that any owner has said is removed as well. */
  readonly ownersToo: boolean;
  readonly whose: 'yours' | 'theirs';
}

export interface ForgetReport {
  readonly removal: MemoryRemoval;
  readonly forgotten: ForgottenCounts | null;
  /** The removed cases of evaluations. */
  readonly cases: readonly string[];
  /** Files that the command must not change and that still contain the text. */
  readonly left: readonly string[];
  /**
   * The messages of the person, and whether the database files still contain any of their text;
   * only for `/forget all`.
   */
  readonly said?: PersonForgetResult &
    Pick<ForgottenPeople, 'whose'> & { readonly search: RawSearchResult | null };
}

export function renderMemoryList(memories: readonly SavedMemory[], isGroup: boolean): string {
  const where = isGroup ? ' in this group' : '';
  if (memories.length === 0) return `I have saved nothing about you${where}.`;
  const shown = memories.slice(-LISTED);
  const older = memories.length - shown.length;
  return [
    `What I have saved${isGroup ? ' about you in this group' : ''}:\n`,
    ...(older > 0 ? [`(${older} older ones not shown)\n`] : []),
    ...shown.map(formatMemoryItem),
    '\nUse `/forget ID`, `/forget WORDS` or `/forget all` to remove them.',
  ].join('\n');
}

export function formatConfirmation(count: number, isGroup: boolean): string {
  return `This removes ${pluralize(count, 'memory', 'memories')} and everything you have said ${isGroup ? 'in this group' : 'to me, here, in your other chats with me and in groups'}: messages and my answers to them, files, summaries, recorded prompts and jobs you set up. It also stops whatever I am doing for you now. To confirm, send \`/forget all\` once more within ten minutes.`;
}

export function describeTooManyMatches(chosen: readonly SavedMemory[]): string {
  return [
    `${chosen.length} memories contain these words, so I removed none. Use more words, or an id:\n`,
    ...chosen.slice(0, LISTED).map(formatMemoryItem),
  ].join('\n');
}

export function describeForgetReport(proof: ForgetReport, isOwner: boolean): string {
  const { removal, forgotten, cases, left, said } = proof;
  const { memories, lines, failed } = removal;
  const rows = forgotten === null ? 0 : Object.values(forgotten).reduce((sum, one) => sum + one, 0);
  const found = memories.length + lines.length + failed.length + cases.length + rows;
  if (found === 0 && said === undefined) {
    return left.length === 0 ? 'I found nothing like that.' : describeUnchangedFiles(left);
  }
  const files = [...new Set(memories.map(({ name }) => name))];
  return [
    'Forgotten:\n',
    `- ${pluralize(memories.length, 'memory', 'memories')}${isOwner && files.length > 0 ? ` from ${files.map(formatInlineCode).join(', ')}` : ''}: ${memories.map(({ entry }) => formatInlineCode(entry.id)).join(', ') || 'none'}`,
    ...lines.map(({ name, count }) => `- ${pluralize(count, 'line')} of ${formatInlineCode(name)}`),
    ...(forgotten === null || rows === 0
      ? []
      : [
          `- ${pluralize(forgotten.history, 'entry', 'entries')} of the history, ${pluralize(forgotten.messages, 'message')}, ${pluralize(forgotten.answers, 'answer')}, ${pluralize(forgotten.steps, 'step')} of turns, ${pluralize(forgotten.pins, 'note')} attached to them and ${pluralize(forgotten.prompts, 'recorded prompt')} no longer contain the words`,
          ...(forgotten.copies > 0
            ? [`- ${pluralize(forgotten.copies, 'copy', 'copies')} of sent messages deleted`]
            : []),
        ]),
    ...(cases.length === 0
      ? []
      : [
          `- ${pluralize(cases.length, 'evaluation case')}${isOwner ? `: ${cases.map(formatInlineCode).join(', ')}` : ''}`,
        ]),
    ...(said === undefined ? [] : listForgottenLines(said)),
    ...failed.map(
      ({ name, detail }) => `- **not** from ${formatInlineCode(name)}: ${toLiteralLine(detail)}`,
    ),
    ...(left.length === 0 ? [] : [`\n${describeUnchangedFiles(left)}`]),
    `\n${said === undefined ? CANNOT : CANNOT_ALL}`,
  ].join('\n');
}

const CANNOT =
  'I cannot take back what is in the chat itself, in backups, in files and recordings that were sent, in earlier versions of SOUL.md, or the same thing in other words.';
const CANNOT_ALL =
  'I cannot take back what the platform and the model’s provider keep, what is in backups and in the operator’s logs, what others quoted or wrote about you, files that I wrote into the workspace, or versions of SOUL.md. Links between your accounts, pairings and usage counts stay.';

function listForgottenLines(said: NonNullable<ForgetReport['said']>): readonly string[] {
  const { messages, rows, cronJobs, whole, groups, search, whose } = said;
  const places = [
    ...(whole > 0 ? [pluralize(whole, 'chat')] : []),
    ...(groups > 0 ? [pluralize(groups, 'group')] : []),
  ].join(' and ');
  return [
    `- ${pluralize(messages, 'message')} of ${whose}${places === '' ? '' : ` in ${places}`}, and ${pluralize(rows, 'row')} derived from them: history, answers, files, summaries, recorded prompts, steps, to-dos, questions`,
    ...(cronJobs > 0 ? [`- ${pluralize(cronJobs, 'job')} of ${whose}`] : []),
    ...(search === null ? [] : [`- ${describeSearch(search, said.samples.length, whose)}`]),
  ];
}

function describeSearch(
  { found, complete }: RawSearchResult,
  samples: number,
  whose: ForgottenPeople['whose'],
): string {
  if (samples === 0)
    return 'none of these messages is long enough to be searched for in the database files';
  const scope = complete ? 'the database files' : 'the first half gigabyte of the database files';
  const what = `I searched ${scope} for ${pluralize(samples, 'passage')} of ${whose}`;
  if (found === 0) return `${what}, byte by byte: nothing is left`;
  return `${what}: **${found} of them are still there**, because others said the same or quoted you`;
}

function describeUnchangedFiles(left: readonly string[]): string {
  return `These files still contain the words, and I left them unchanged: ${left.map(formatInlineCode).join(', ')}.`;
}

function formatMemoryItem({ entry }: SavedMemory): string {
  const { id, text, type, scope, date, words, automatic } = entry;
  const how = automatic ? 'saved automatically' : words === 'agent' ? 'my own note' : null;
  const facts = [type, scope, date, how].filter((fact) => fact !== null);
  return `- ${formatInlineCode(id)} ${toLiteralMarkdown(text)} (${facts.join(', ')})`;
}
