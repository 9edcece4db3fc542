import { estimateQuarterTokens, estimateTokens, toMemoryLine } from '@parley/workspace';
import { z } from 'zod';
import { findTrigger } from '../memory/memory-triggers.ts';
import {
  addUpkeepLines,
  type MemoryItem,
  type MemoryPage,
  type NoteLine,
  parseMemoryPage,
  removeItems,
} from './memory-pages.ts';

const MAX_LINES = 200;
const Id = z.union([z.string(), z.number()]).transform((id) => String(id).trim().toUpperCase());
const Why = z
  .string()
  .default('')
  .transform((why) => toMemoryLine(why).slice(0, MAX_LINES));
/** `note` is the id of a line in the daily notes. */
const Addition = z.object({ note: Id, why: Why });
/**
 * `line` is the id of an item in MEMORY.md. `same` is an item with the same content that is kept.
 */
const Removal = z.object({
  line: Id,
  why: Why,
  same: Id.nullish()
    .transform((id) => id ?? undefined)
    .optional(),
});
const Proposal = z.object({
  add: z.array(z.unknown()).default([]),
  remove: z.array(z.unknown()).default([]),
});

/**
 * A proposal from a model, which refers to lines by id, so that no text from the model enters
 * MEMORY.md.
 */
export interface UpkeepProposal {
  readonly add: readonly z.output<typeof Addition>[];
  readonly remove: readonly z.output<typeof Removal>[];
}

/** Parses the JSON in a model's answer, skipping invalid entries; null if there is none. */
export function parseProposal(said: string): UpkeepProposal | null {
  const json = said.slice(said.indexOf('{'), said.lastIndexOf('}') + 1);
  const parsed = Proposal.safeParse(parseProposalJson(json));
  if (!parsed.success) return null;
  const valid = <T>(schema: z.ZodType<T>, all: readonly unknown[]): readonly T[] =>
    all.slice(0, MAX_LINES).flatMap((one) => {
      const read = schema.safeParse(one);
      return read.success ? [read.data] : [];
    });
  return { add: valid(Addition, parsed.data.add), remove: valid(Removal, parsed.data.remove) };
}

function parseProposalJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // The caller reports a missing proposal.
  }
}

/**
 * The number of daily notes that are read, and the size in tokens above which MEMORY.md is trimmed
 * (H07).
 */
export interface UpkeepBounds {
  readonly notes: number;
  readonly tokens: number;
}

export const USUAL_UPKEEP: UpkeepBounds = { notes: 7, tokens: 4_000 };

export interface UpkeepInput {
  readonly memory: string;
  readonly notes: readonly NoteLine[];
  /**
   * Text from earlier versions of MEMORY.md and from other memory files, which is not added again.
   */
  readonly known: readonly string[];
  /** The size above which MEMORY.md is trimmed, in tokens. */
  readonly tokens?: number;
}

/** An added, removed or refused line, with the reason. */
interface ChangedLine {
  readonly text: string;
  readonly why: string;
}

export interface UpkeepOutcome {
  readonly text: string;
  readonly added: readonly ChangedLine[];
  readonly removed: readonly ChangedLine[];
  readonly refused: readonly ChangedLine[];
}

/** The maximum share of items that one run removes unless MEMORY.md is too long. */
const REMOVED_SHARE = 0.3;
const MAX_ADDED_LINES = 20;

/**
 * Decides which changes in a proposal are applied (H07). Pure. Only existing items are removed.
 * Wishes, rules and 70 % of the items are kept, unless MEMORY.md is too long. Only lines from notes
 * are added, verbatim, and nothing is removed to make space for them.
 */
export function applyProposal(
  { tokens = USUAL_UPKEEP.tokens, ...written }: UpkeepInput,
  proposal: UpkeepProposal,
): UpkeepOutcome {
  const input = { ...written, tokens };
  const page = parseMemoryPage(input.memory);
  const refused: ChangedLine[] = [];
  const gone = chooseRemovals(
    page,
    { size: estimateQuarterTokens(input.memory), room: tokens * 4 },
    proposal.remove,
    refused,
  );
  const shorter = gone.size === 0 ? input.memory : removeItems(page, gone);
  const { text, added } = addLines(input, proposal, shorter, refused);
  const removed = page.items.flatMap((item) => {
    const why = gone.get(item);
    return why === undefined ? [] : [{ text: item.text, why }];
  });
  return { text, added, removed, refused };
}

/**
 * Chooses the items to remove, each with its reason: first those named in the proposal, then as
 * many as needed to make MEMORY.md short enough. `size` and `room` are in quarters of a token.
 */
function chooseRemovals(
  { lines, items }: MemoryPage,
  { size, room }: { readonly size: number; readonly room: number },
  proposed: UpkeepProposal['remove'],
  refused: ChangedLine[],
): ReadonlyMap<MemoryItem, string> {
  const gone = new Map<MemoryItem, string>();
  // Items that are kept because identical items are removed.
  const kept = new Set<MemoryItem>();
  const most = Math.max(1, Math.floor(items.length * REMOVED_SHARE));
  let left = size;
  const isTooLong = () => left > room;
  const remove = (item: MemoryItem, why: string) => {
    gone.set(item, why);
    for (const line of lines.slice(item.from, item.to)) left -= estimateQuarterTokens(line) + 1;
  };
  for (const { line, why, same } of proposed) {
    const item = items.find(({ id }) => id === line);
    const twin = same === undefined ? undefined : items.find(({ id }) => id === same);
    if (item !== undefined && gone.has(item)) continue;
    if (item === undefined) refused.push({ text: line, why: 'there is no such line' });
    else if (same !== undefined && (twin === undefined || twin === item || gone.has(twin)))
      refused.push({ text: item.text, why: 'the item that is said to be the same is not kept' });
    else if (kept.has(item)) refused.push({ text: item.text, why: 'it replaces another item' });
    else if (isWishOrRule(item.text) && (twin === undefined || !isSameItem(item, twin)))
      refused.push({ text: item.text, why: 'a wish or a rule' });
    else if (gone.size >= most && !isTooLong())
      refused.push({ text: item.text, why: 'too much for one run' });
    else {
      remove(item, twin === undefined ? why : `the same as: ${twin.text}`);
      if (twin !== undefined) kept.add(twin);
    }
  }
  for (const item of isTooLong() ? sortForRemoval(items) : []) {
    if (gone.has(item)) continue;
    const which =
      item.date === null ? 'this note was at the top' : `this note is from ${item.date}`;
    remove(item, `MEMORY.md was too long, and ${which}`);
    if (!isTooLong()) break;
  }
  return gone;
}

function isSameItem(one: MemoryItem, other: MemoryItem): boolean {
  return normalizeWords(one.text) === normalizeWords(other.text);
}

/**
 * Sorts items, most dispensable first: items added by upkeep (oldest first), other dated items,
 * undated items from the top (such pages grow downwards), and finally wishes and rules.
 */
function sortForRemoval(items: readonly MemoryItem[]): readonly MemoryItem[] {
  const rankOf = ({ text, date, isOwn }: MemoryItem) =>
    isWishOrRule(text) ? '3' : date === null ? '2' : isOwn ? '0' : '1';
  const ranks = new Map(items.map((item) => [item, `${rankOf(item)} ${item.date ?? ''}`]));
  const rank = (item: MemoryItem) => ranks.get(item) ?? '';
  return items.toSorted((a, b) => (rank(a) < rank(b) ? -1 : Number(rank(a) > rank(b))));
}

function addLines(
  { notes, known, memory, tokens }: Required<UpkeepInput>,
  { add }: UpkeepProposal,
  shorter: string,
  refused: ChangedLine[],
): Pick<UpkeepOutcome, 'text' | 'added'> {
  const byId = new Map(notes.map((line) => [line.id, line]));
  // Includes MEMORY.md before this run, so that a line removed now is not added back.
  const there = [memory, ...known].map(normalizeWords);
  const added: (ChangedLine & { readonly line: string })[] = [];
  let text = shorter;
  for (const { note, why } of add) {
    const found = byId.get(note);
    if (found === undefined) {
      refused.push({ text: note, why: 'there is no such note line' });
      continue;
    }
    if (added.some((one) => one.text === found.text)) continue;
    const line = `- ${found.date}: ${found.text}`;
    const next = addUpkeepLines(shorter, [...added.map((one) => one.line), line]);
    const no = findRefusalReason(found.text, there, { count: added.length, next, tokens });
    if (no !== null) refused.push({ text: found.text, why: no });
    else {
      added.push({ text: found.text, why: `${found.date}: ${why}`, line });
      text = next;
    }
  }
  return { text, added: added.map(({ text: line, why }) => ({ text: line, why })) };
}

function findRefusalReason(
  line: string,
  there: readonly string[],
  {
    count,
    next,
    tokens,
  }: { readonly count: number; readonly next: string; readonly tokens: number },
): string | null {
  if (isWishOrRule(line)) return 'a wish or a rule, which is kept only in the person’s own words';
  if (there.some((text) => text.includes(normalizeWords(line))))
    return 'it is known already, or was removed before';
  if (count >= MAX_ADDED_LINES) return 'too much for one run';
  return estimateTokens(next) > tokens ? 'there is no room for it' : null;
}

function normalizeWords(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}

/** Words that express wishes, in the languages of the memory triggers. */
const WISHES: readonly RegExp[] = [
  /\b(?:always|never|prefers?|preferences?|likes?|dislikes?|loves?|hates?|insists?|from now on|make sure)\b/i,
  /\b(?:remember|must|should|shall|don'?t|do not)\b/i,
  /(?<!\p{L})(?:immer|nie|niemals|bevorzugt|mag|liebt|hasst|merk|merke|ab jetzt|künftig|soll|sollst|sollen|muss|musst)(?!\p{L})/iu,
  /记住|喜欢|偏好|以后|总是|从不|不要|必须|务必|一定要/u,
];

/**
 * Whether a line may be a preference or a rule. Preferences and rules are saved verbatim only
 * (G13), so upkeep never adds one, and removes one only if an identical item is kept or MEMORY.md
 * is too long. False positives are preferred over false negatives.
 */
export function isWishOrRule(line: string): boolean {
  const text = line.normalize('NFC').replace(/[’‘]/g, "'");
  return findTrigger(text) !== null || WISHES.some((wish) => wish.test(text));
}
