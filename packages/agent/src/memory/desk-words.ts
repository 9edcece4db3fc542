import { literal } from '@parley/contracts';
import type { SavedMemory } from '@parley/workspace';
import type { ForgetProof, MemoryAsker } from './memory-desk.ts';

/** Memories that `/memory` shows; older ones are counted. */
const SHOWN = 40;

/** What `/forget` has to say. */
export type ForgetNews =
  | { readonly kind: 'usage' }
  | { readonly kind: 'confirm'; readonly count: number }
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
      return `That removes all of it: ${counted(news.count, 'memory', 'memories')}. If you mean it, send \`/forget all\` once more within ten minutes.`;
    case 'too-many':
      return [
        `${news.chosen.length} memories have these words; I removed none. Use more words, or an id:\n`,
        ...news.chosen.slice(0, SHOWN).map(memoryItem),
      ].join('\n');
    case 'done':
      return proofText(news.proof, news.isOwner);
  }
}

function proofText({ removal, forgotten, left }: ForgetProof, isOwner: boolean): string {
  const { memories, lines, failed } = removal;
  const rows = forgotten === null ? 0 : Object.values(forgotten).reduce((sum, one) => sum + one, 0);
  if (memories.length === 0 && lines.length === 0 && failed.length === 0 && rows === 0) {
    return left.length === 0 ? 'I found nothing like that.' : leftText(left);
  }
  const files = [...new Set(memories.map(({ name }) => name))];
  return [
    'Forgotten:\n',
    `- ${counted(memories.length, 'memory', 'memories')}${isOwner && files.length > 0 ? ` from ${files.map(code).join(', ')}` : ''}: ${memories.map(({ entry }) => code(entry.id)).join(', ') || 'none'}`,
    ...lines.map(({ name, count }) => `- ${counted(count, 'line', 'lines')} of ${code(name)}`),
    ...(forgotten === null
      ? []
      : [
          `- ${counted(forgotten.history, 'entry', 'entries')} of the history, ${counted(forgotten.messages, 'message', 'messages')}, ${counted(forgotten.answers, 'answer', 'answers')}, ${counted(forgotten.steps, 'step', 'steps')} of turns, ${counted(forgotten.pins, 'note', 'notes')} beside them and ${counted(forgotten.prompts, 'recorded prompt', 'recorded prompts')} no longer hold the words`,
          ...(forgotten.copies > 0
            ? [`- ${counted(forgotten.copies, 'copy', 'copies')} of sent messages, dropped`]
            : []),
        ]),
    ...failed.map(({ name, detail }) => `- **not** from ${code(name)}: ${detail}`),
    ...(left.length === 0 ? [] : [`\n${leftText(left)}`]),
    '\nWhat stands in the chat itself, in backups, in files and recordings that were sent, in earlier versions of SOUL.md, and the same thing in other words I cannot take back.',
  ].join('\n');
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
