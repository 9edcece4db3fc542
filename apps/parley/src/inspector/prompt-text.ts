import type { Audience, SentPart, SentPrompt, UnsentLayer } from '@parley/contracts';
import type { PromptSummary, StoredPrompt } from '@parley/store';
import { visible } from '../terminal/visible-text.ts';

/** Who may see a text, in a word. */
function audienceWord(audience: Audience): string {
  return audience.kind === 'conversation' ? 'this chat' : audience.kind;
}

/** One line that tells a recorded turn from others. */
export function turnLine({ turnId, at, place, model }: PromptSummary): string {
  const { channel, account, chatType, title, personName, personId } = place;
  const chat = title === undefined ? chatType : `${chatType} “${title}”`;
  const who = `${personName} (${personId})`;
  return visible(`${turnId} · ${moment(at)} · ${channel}/${account} ${chat} · ${who} · ${model}`);
}

/** A list of recorded turns, newest first. */
export function listText(prompts: readonly PromptSummary[]): string {
  const rows = prompts.map(({ turnId, at, layout, tokens, place, conversationId }) => [
    turnId,
    moment(at),
    conversationId,
    place.title ?? place.chatType,
    place.personName,
    layout,
    count(tokens),
  ]);
  const heads = ['turn', 'time', 'chat', 'where', 'person', 'layout', 'tokens'];
  return tableText([heads, ...rows]);
}

/** What the model was told, layer by layer; with `full` every word of it. */
export function promptText(prompt: SentPrompt, options: { readonly full: boolean }): string {
  const { layout, parts, unsent } = prompt;
  const tokens = parts.reduce((sum, part) => sum + part.tokens, 0);
  const characters = parts.reduce((sum, { text }) => sum + text.length, 0);
  return [
    `layout ${layout}, about ${count(tokens)} tokens, ${count(characters)} characters`,
    tableText([HEADS, ...layerRows(parts)]),
    ...(unsent.length === 0 ? [] : [`not in the prompt\n${tableText(unsent.map(unsentRow))}`]),
    ...(options.full ? parts.map(fullText) : []),
  ].join('\n\n');
}

/** What went along with the prompt of a recorded turn. */
export function besidesText({ tools, messages }: StoredPrompt): string {
  const sizes = messages.map(({ role, characters }) => `${role} ${count(characters)}`).join(', ');
  return [
    `tools     ${tools.length === 0 ? 'none' : tools.join(', ')}`,
    `messages  ${messages.length}, in characters: ${sizes}`,
  ].join('\n');
}

const HEADS = ['layer', 'source', 'for', 'characters', 'tokens', ''];
const BOUNDARY = '┄ cache boundary: nothing above changes from turn to turn';
const USER = '┄ user message, before the person’s words';

function layerRows(parts: readonly SentPart[]): string[][] {
  const rows: string[][] = [];
  for (const [index, part] of parts.entries()) {
    const before = parts[index - 1];
    if (before?.stable === true && !part.stable) rows.push([BOUNDARY]);
    if (part.placement === 'user' && before?.placement !== 'user') rows.push([USER]);
    const { layer, source, audience, text, tokens, cut } = part;
    const note = cut === null ? '' : `cut: ${count(cut.shown)} of ${count(cut.total)} characters`;
    const sizes = [count(text.length), count(tokens)];
    rows.push([layer, source, audienceWord(audience), ...sizes, note]);
  }
  return rows;
}

function unsentRow(line: UnsentLayer): string[] {
  if (line.outcome !== 'withheld') return [line.layer, `${line.outcome}: ${line.reason}`];
  const forWhom = audienceWord(line.audience);
  return [line.layer, `withheld: ${line.source} is for ${forWhom}, not for this reader`];
}

function fullText({ layer, text }: SentPart): string {
  return `━━ ${visible(layer)} ━━\n${visible(text)}`;
}

/** Columns that line up; sizes stand to the right, a row of one cell across. */
function tableText(rows: readonly (readonly string[])[]): string {
  const shown = rows.map((row) => row.map((cell) => visible(cell).replaceAll('\n', ' ')));
  const [heads = []] = shown;
  const widths = heads.map((_, at) =>
    Math.max(...shown.map((row) => (row.length === 1 ? 0 : (row[at]?.length ?? 0)))),
  );
  const line = (row: readonly string[]) =>
    row.map((cell, at) => {
      const width = widths[at] ?? 0;
      return SIZES.has(heads[at] ?? '') ? cell.padStart(width) : cell.padEnd(width);
    });
  return shown
    .map((row) => (row.length === 1 ? row : ['', ...line(row)]).join('  ').trimEnd())
    .join('\n');
}

const SIZES = new Set(['characters', 'tokens']);

/** `2026-11-21 14:05`, where the machine is. */
function moment(at: number): string {
  const date = new Date(at);
  const two = (number: number) => String(number).padStart(2, '0');
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** With commas between the thousands. */
export function count(number: number): string {
  return number.toLocaleString('en-US');
}
