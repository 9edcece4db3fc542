import type { Audience, RequestSection, SentPart, SentRequest, UnsentLayer } from '@parley/core';
import { formatCount } from '@parley/core';
import type { PartComparison, PromptComparison, TextPiece } from '@parley/prompt';
import type { HiddenStepParts, PromptSummary } from '@parley/store';
import { formatTable, stripControlCharacters } from '../../terminal/text.ts';

function getAudienceWord(audience: Audience): string {
  return audience.kind === 'conversation' ? 'this chat' : audience.kind;
}

export function formatTurn({ turnId, at, place, model, answeredBy }: PromptSummary): string {
  const { channel, account, chatType, title, personName, personId } = place;
  const chat = title === undefined ? chatType : `${chatType} “${title}”`;
  const who = `${personName} (${personId})`;
  const agent = answeredBy === undefined ? '' : ` · ${answeredBy}`;
  const where = `${channel}/${account} ${chat}`;
  return stripControlCharacters(
    `${turnId} · ${formatLocalMinute(at)} · ${where} · ${who} · ${model}${agent}`,
  );
}

export function formatPromptList(prompts: readonly PromptSummary[]): string {
  const rows = prompts.map(({ turnId, at, layout, tokens, place, conversationId }) => [
    turnId,
    formatLocalMinute(at),
    conversationId,
    place.title ?? place.chatType,
    place.personName,
    layout,
    formatCount(tokens),
  ]);
  const heads = ['turn', 'time', 'chat', 'where', 'person', 'layout', 'tokens'];
  return formatIndentedTable([heads, ...rows]);
}

/**
 * Formats the request section by section and the prompt layer by layer; with `full`, includes the
 * complete text.
 */
export function formatPrompt(prompt: SentRequest, options: { readonly full: boolean }): string {
  const { layout, parts, unsent, sections, characters, tokens } = prompt;
  return [
    `layout ${layout}, about ${formatCount(tokens)} tokens, ${formatCount(characters)} characters`,
    formatIndentedTable([['section', '', 'characters', 'tokens'], ...sections.map(toSectionRow)]),
    formatIndentedTable([HEADS, ...toLayerRows(parts)]),
    ...(unsent.length === 0
      ? []
      : [`not in the prompt\n${formatIndentedTable(unsent.map(toUnsentRow))}`]),
    ...(options.full ? parts.map(formatFullText) : []),
    formatToolsAndMessages(prompt),
  ].join('\n\n');
}

const SECTIONS: Readonly<Record<RequestSection['name'], readonly [label: string, unit: string]>> = {
  tools: ['tool definitions', 'tool'],
  system: ['system prompt', 'layer'],
  context: ['context before the message', 'layer'],
  history: ['history', 'message'],
  message: ['newest message', 'message'],
};

function toSectionRow({ name, count: of, characters, tokens }: RequestSection): string[] {
  const [label, unit] = SECTIONS[name];
  return [
    label,
    `${of} ${unit}${of === 1 ? '' : 's'}`,
    formatCount(characters),
    formatCount(tokens),
  ];
}

function formatToolsAndMessages({ tools, messages }: SentRequest): string {
  const sizes = messages
    .map(({ role, characters }) => `${role} ${formatCount(characters)}`)
    .join(', ');
  return [
    `tools     ${tools.length === 0 ? 'none' : tools.join(', ')}`,
    `messages  ${messages.length}, in characters: ${sizes}`,
  ].join('\n');
}

const HEADS = ['layer', 'source', 'for', 'characters', 'tokens', ''];
const BOUNDARY = '┄ cache boundary: nothing above changes from turn to turn';
const USER = '┄ user message, before the person’s text';

function toLayerRows(parts: readonly SentPart[]): string[][] {
  const rows: string[][] = [];
  for (const [index, part] of parts.entries()) {
    const before = parts[index - 1];
    if (before?.stable === true && !part.stable) rows.push([BOUNDARY]);
    if (part.placement === 'user' && before?.placement !== 'user') rows.push([USER]);
    const { layer, source, audience, text, tokens, cut } = part;
    const note =
      cut === null ? '' : `cut: ${formatCount(cut.shown)} of ${formatCount(cut.total)} characters`;
    const sizes = [formatCount(text.length), formatCount(tokens)];
    rows.push([layer, source, getAudienceWord(audience), ...sizes, note]);
  }
  return rows;
}

function toUnsentRow(line: UnsentLayer): string[] {
  if (line.outcome !== 'withheld') return [line.layer, `${line.outcome}: ${line.reason}`];
  const forWhom = getAudienceWord(line.audience);
  return [line.layer, `withheld: ${line.source} is for ${forWhom}, not for this reader`];
}

function formatFullText({ layer, text }: SentPart): string {
  return `━━ ${stripControlCharacters(layer)} ━━\n${stripControlCharacters(text)}`;
}

/** Formats what the model wrote apart from its answers; empty if there is nothing. */
export function formatAsides(
  asides: readonly HiddenStepParts[],
  { full }: { readonly full: boolean },
): string {
  if (asides.length === 0) return '';
  const lines = asides.flatMap(({ step, reasoning, reasoningCharacters, dropped }) => [
    `step ${step}: ${formatCount(reasoningCharacters)} characters of reasoning`,
    ...(full && reasoning !== '' ? [stripControlCharacters(reasoning)] : []),
    ...dropped.map(({ raw, problem }) =>
      stripControlCharacters(`a call that was not run: ${problem}${full ? `\n${raw}` : ''}`),
    ),
  ]);
  const heading = 'not part of the answer; never shown in a chat or sent to a model';
  return `\n\n${heading}\n${lines.join('\n')}`;
}

/** Formats an indented table with right-aligned size columns. */
function formatIndentedTable(rows: readonly (readonly string[])[]): string {
  const sizes = (rows[0] ?? []).flatMap((head, at) => (SIZES.has(head) ? [at + 1] : []));
  return formatTable(
    rows.map((row) => (row.length === 1 ? row : ['', ...row])),
    sizes,
  );
}

const SIZES = new Set(['characters', 'tokens']);

/** Formats a local time such as `2026-11-21 14:05`. */
function formatLocalMinute(at: number): string {
  const date = new Date(at);
  const two = (number: number) => String(number).padStart(2, '0');
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`;
}

export function formatComparison(
  comparison: PromptComparison,
  options: { readonly full: boolean },
): string {
  const { before, after, prefix, share, parts } = comparison;
  const percent = (Math.floor(share * 1_000) / 10).toFixed(1);
  return [
    `first   ${formatCount(before.characters)} characters, about ${formatCount(before.tokens)} tokens`,
    `second  ${formatCount(after.characters)} characters, about ${formatCount(after.tokens)} tokens`,
    `shared  the first ${formatCount(prefix.characters)} characters (${formatCount(prefix.bytes)} bytes), about ${formatCount(prefix.tokens)} tokens: ${percent} % of the second`,
    '',
    ...parts.flatMap((part, index) => listPartLines(part, isPrefixEnd(parts, index), options.full)),
  ].join('\n');
}

/** Returns whether this is the first part that the shared prefix does not fully cover. */
function isPrefixEnd(parts: readonly PartComparison[], index: number): boolean {
  return parts.findIndex((part) => part.shared < getPartLength(part)) === index;
}

function getPartLength({ change, pieces }: PartComparison): number {
  const without = change === 'removed' ? 'added' : 'removed';
  return pieces.reduce((sum, { kind, text }) => sum + (kind === without ? 0 : text.length), 0);
}

function listPartLines(part: PartComparison, isEnd: boolean, full: boolean): string[] {
  const { layer, change, pieces, shared } = part;
  const end = isEnd
    ? `   ◄ the shared prefix ends here, after ${formatCount(shared)} characters`
    : '';
  const lines = full ? pieces.flatMap((piece) => listMarkedLines(piece)) : listChangedLines(pieces);
  return [
    `${SIGNS[change]} ${stripControlCharacters(layer)}${end}`,
    ...(change === 'same' && !full ? [] : lines),
  ];
}

const SIGNS: Readonly<Record<PartComparison['change'], string>> = {
  same: '=',
  changed: '~',
  added: '+',
  removed: '-',
};
const MARKS: Readonly<Record<TextPiece['kind'], string>> = { same: ' ', removed: '-', added: '+' };

function listMarkedLines({ kind, text }: TextPiece): string[] {
  const lines = stripControlCharacters(text).replace(/\n$/, '').split('\n');
  return lines.map((line) => `    ${MARKS[kind]} ${line}`);
}

/** Lists the changes between two texts; unchanged text is replaced by its length. */
function listChangedLines(pieces: readonly TextPiece[]): string[] {
  return pieces.flatMap((piece) => {
    if (piece.kind !== 'same') return listMarkedLines(piece);
    const lines = listMarkedLines(piece).length;
    return [`      … ${lines === 1 ? 'one line' : `${formatCount(lines)} lines`} unchanged`];
  });
}
