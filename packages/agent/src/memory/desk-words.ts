import { literal } from '@parley/contracts';
import type { RawSearch } from '@parley/store';
import type { SavedMemory } from '@parley/workspace';
import type { ForgetProof, MemoryAsker } from './memory-desk.ts';

/** Memories that `/memory` shows; older ones are counted. */
const SHOWN = 40;

/** What `/forget` has to say. */
export type ForgetNews =
  | { readonly kind: 'usage' }
  | { readonly kind: 'confirm'; readonly count: number; readonly isGroup: boolean }
  | { readonly kind: 'too-many'; readonly chosen: readonly SavedMemory[] }
  | { readonly kind: 'done'; readonly proof: ForgetProof; readonly isOwner: boolean };

/** What `/memory` answers, in Markdown; the newest are shown. */
export function memoryText(
  memories: readonly SavedMemory[],
  { isGroup }: Pick<MemoryAsker, 'isGroup'>,
): string {
  const where = isGroup ? ' in this group' : '';
  if (memories.length === 0) return `I have saved nothing about you${where}.`;
  const shown = memories.slice(-SHOWN);
  const older = memories.length - shown.length;
  return [
    `What I have saved${isGroup ? ' about you in this group' : ''}:\n`,
    ...(older > 0 ? [`(${older} older ones are not shown.)\n`] : []),
    ...shown.map(memoryItem),
    '\n`/forget ID`, `/forget WORDS` or `/forget all` removes it.',
  ].join('\n');
}

/** What `/forget` answers, in Markdown. */
export function forgetText(news: ForgetNews): string {
  switch (news.kind) {
    case 'usage':
      return 'Tell me what: `/forget WORDS`, `/forget ID` as /memory shows it, or `/forget all`.';
    case 'confirm':
      return `That removes ${counted(news.count, 'memory', 'memories')}, and all that you have said ${news.isGroup ? 'in this group' : 'to me, here, in your other chats with me and in groups'}: messages and my answers to them, files, summaries, recorded prompts, jobs that you set up. What I do for you now is stopped. If you mean it, send \`/forget all\` once more within ten minutes.`;
    case 'too-many':
      return [
        `${news.chosen.length} memories have these words; I removed none. Use more words, or an id:\n`,
        ...news.chosen.slice(0, SHOWN).map(memoryItem),
      ].join('\n');
    case 'done':
      return proofText(news.proof, news.isOwner);
  }
}

function proofText(proof: ForgetProof, isOwner: boolean): string {
  const { removal, forgotten, left, said } = proof;
  const { memories, lines, failed } = removal;
  const rows = forgotten === null ? 0 : Object.values(forgotten).reduce((sum, one) => sum + one, 0);
  const found = memories.length + lines.length + failed.length + rows;
  if (found === 0 && said === undefined) {
    return left.length === 0 ? 'I found nothing like that.' : leftText(left);
  }
  const files = [...new Set(memories.map(({ name }) => name))];
  return [
    'Forgotten:\n',
    `- ${counted(memories.length, 'memory', 'memories')}${isOwner && files.length > 0 ? ` from ${files.map(code).join(', ')}` : ''}: ${memories.map(({ entry }) => code(entry.id)).join(', ') || 'none'}`,
    ...lines.map(({ name, count }) => `- ${counted(count, 'line', 'lines')} of ${code(name)}`),
    ...(forgotten === null || rows === 0
      ? []
      : [
          `- ${counted(forgotten.history, 'entry', 'entries')} of the history, ${counted(forgotten.messages, 'message', 'messages')}, ${counted(forgotten.answers, 'answer', 'answers')}, ${counted(forgotten.steps, 'step', 'steps')} of turns, ${counted(forgotten.pins, 'note', 'notes')} beside them and ${counted(forgotten.prompts, 'recorded prompt', 'recorded prompts')} no longer hold the words`,
          ...(forgotten.copies > 0
            ? [`- ${counted(forgotten.copies, 'copy', 'copies')} of sent messages, dropped`]
            : []),
        ]),
    ...(said === undefined ? [] : saidLines(said)),
    ...failed.map(({ name, detail }) => `- **not** from ${code(name)}: ${detail}`),
    ...(left.length === 0 ? [] : [`\n${leftText(left)}`]),
    `\n${said === undefined ? CANNOT : CANNOT_ALL}`,
  ].join('\n');
}

const CANNOT =
  'What stands in the chat itself, in backups, in files and recordings that were sent, in earlier versions of SOUL.md, and the same thing in other words I cannot take back.';
const CANNOT_ALL =
  'I cannot take back what the platform and the maker of the model keep, what stands in backups and in the operator’s logs, what others quoted or wrote about you, files that I wrote into the workspace, and versions of SOUL.md. Links between your accounts, who was let in, and counts of use stay.';

function saidLines(said: NonNullable<ForgetProof['said']>): readonly string[] {
  const { messages, rows, cronJobs, whole, groups, search } = said;
  const places = [
    ...(whole > 0 ? [counted(whole, 'chat', 'chats')] : []),
    ...(groups > 0 ? [counted(groups, 'group', 'groups')] : []),
  ].join(' and ');
  return [
    `- ${counted(messages, 'message', 'messages')} of yours${places === '' ? '' : ` in ${places}`}, and ${counted(rows, 'row', 'rows')} that came of them: history, answers, files, summaries, recorded prompts, steps, to-dos, questions`,
    ...(cronJobs > 0 ? [`- ${counted(cronJobs, 'job', 'jobs')} that you set up`] : []),
    ...(search === null ? [] : [`- ${searchLine(search, said.samples.length)}`]),
  ];
}

/** The proof: not what was asked of the database, but what stands in its files. */
function searchLine({ found, complete }: RawSearch, samples: number): string {
  if (samples === 0) return 'none of your messages is long enough to look for it in the files';
  const scope = complete ? 'the files of the database' : 'the first half gigabyte of the database';
  const what = `I looked for ${counted(samples, 'text', 'texts')} of yours in ${scope}`;
  if (found === 0) return `${what}, byte by byte: nothing is left`;
  return `${what}: **${found} of them still stand there**, where others have said the same or quoted you`;
}

function leftText(left: readonly string[]): string {
  return `These files of yours still have the words, and I left them alone: ${left.map(code).join(', ')}.`;
}

/** One line of a list. What people wrote is shown as it is, without any markup of ours. */
function memoryItem({ entry }: SavedMemory): string {
  const { id, text, type, scope, date, words, automatic } = entry;
  const how = automatic ? 'saved by itself' : words === 'agent' ? 'my own note' : null;
  const facts = [type, scope, date, how].filter((fact) => fact !== null);
  return `- ${code(id)} ${literal(text)} (${facts.join(', ')})`;
}

function code(text: string): string {
  return `\`${text.replaceAll('`', '')}\``;
}

function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}
