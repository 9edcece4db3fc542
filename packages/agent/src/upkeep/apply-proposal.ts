import { estimateTokens, quarterTokens } from '@parley/workspace';
import {
  type MemoryItem,
  type MemoryPage,
  readMemoryPage,
  withOwnLines,
  withoutItems,
} from './memory-lines.ts';
import type { NoteLine } from './note-lines.ts';
import { trimOrder } from './trim-order.ts';
import type { UpkeepProposal } from './upkeep-proposal.ts';
import { isWishOrRule } from './wish-or-rule.ts';

/** What a proposal is applied to. */
export interface UpkeepInput {
  /** MEMORY.md. */
  readonly memory: string;
  readonly notes: readonly NoteLine[];
  /** What has stood in MEMORY.md at some time, and what is remembered elsewhere: not added again. */
  readonly known: readonly string[];
}

/** A line, and why it came or went. */
export interface ChangedLine {
  readonly text: string;
  readonly why: string;
}

/** What upkeep makes of MEMORY.md. */
export interface UpkeepOutcome {
  /** The same as before where nothing is changed. */
  readonly text: string;
  readonly added: readonly ChangedLine[];
  readonly removed: readonly ChangedLine[];
  /** What was proposed and is not done. */
  readonly refused: readonly ChangedLine[];
}

/** Above this MEMORY.md is trimmed, in tokens (H07). */
export const MEMORY_TOKENS = 4_000;
/** So much of all items may go in one run, where it is not too long. */
const REMOVED_SHARE = 0.3;
/** Most lines that one run adds. */
const MOST_ADDED = 20;

/**
 * Decides what of a proposal is done (H07). Pure. Nothing goes but items that stand there; wishes and
 * rules stay, and so does all but 30 % of the items, unless the page is too long. Nothing comes but
 * lines of notes, word for word; and nothing goes to make room for them.
 */
export function applyProposal(input: UpkeepInput, proposal: UpkeepProposal): UpkeepOutcome {
  const page = readMemoryPage(input.memory);
  const refused: ChangedLine[] = [];
  const going: Going = { page, why: new Map(), kept: new Set(), left: quarterTokens(input.memory) };
  takeProposed(going, proposal, refused);
  trim(going);
  const gone = new Set(going.why.keys());
  const shorter = gone.size === 0 ? input.memory : withoutItems(page, gone);
  const { text, added } = addLines(input, proposal, shorter, refused);
  const removed = page.items.flatMap(({ id, text: line }) => {
    const why = going.why.get(id);
    return why === undefined ? [] : [{ text: line, why }];
  });
  return { text, added, removed, refused };
}

/** What goes, with the reason of each by its id. */
interface Going {
  readonly page: MemoryPage;
  readonly why: Map<string, string>;
  /** Items that stay in place of others that say the same. */
  readonly kept: Set<string>;
  /** What is left, in quarters of a token. */
  left: number;
}

function takeOut(going: Going, { id, from, to }: MemoryItem, why: string): void {
  if (going.why.has(id)) return;
  going.why.set(id, why);
  for (const line of going.page.lines.slice(from, to)) going.left -= quarterTokens(line) + 1;
}

function isTooLong({ left }: Going): boolean {
  return left > MEMORY_TOKENS * 4;
}

function takeProposed(going: Going, { remove }: UpkeepProposal, refused: ChangedLine[]): void {
  const { items } = going.page;
  const most = Math.max(1, Math.floor(items.length * REMOVED_SHARE));
  const byId = new Map(items.map((item) => [item.id, item]));
  for (const { line, why, same } of remove) {
    const item = byId.get(line);
    if (item === undefined) {
      refused.push({ text: line, why: 'it does not stand there' });
      continue;
    }
    if (going.why.has(line)) continue;
    const twin = same === undefined ? undefined : byId.get(same);
    const isFull = going.why.size >= most && !isTooLong(going);
    const no = whyNotRemoved(item, { same, twin, going, isFull });
    if (no !== null) refused.push({ text: item.text, why: no });
    else {
      takeOut(going, item, twin === undefined ? why : `the same as: ${twin.text}`);
      if (twin !== undefined) going.kept.add(twin.id);
    }
  }
}

interface Removing {
  readonly same: string | undefined;
  readonly twin: MemoryItem | undefined;
  readonly going: Going;
  readonly isFull: boolean;
}

function whyNotRemoved(item: MemoryItem, { same, twin, going, isFull }: Removing): string | null {
  const isCopy = twin !== undefined && folded(twin.text) === folded(item.text);
  if (same !== undefined && (twin === undefined || twin === item || going.why.has(twin.id)))
    return 'what is said to be the same does not stay';
  if (going.kept.has(item.id)) return 'it stays in place of another';
  if (isWishOrRule(item.text) && !isCopy) return 'a wish or a rule';
  return isFull ? 'too much for one run' : null;
}

/** Takes out what `trimOrder` names first, until the rest is short enough or nothing is left to take. */
function trim(going: Going): void {
  for (const { item, why } of trimOrder(going.page.items)) {
    if (!isTooLong(going)) return;
    takeOut(going, item, why);
  }
}

function addLines(
  { notes, known, memory }: UpkeepInput,
  { add }: UpkeepProposal,
  shorter: string,
  refused: ChangedLine[],
): Pick<UpkeepOutcome, 'text' | 'added'> {
  const byId = new Map(notes.map((line) => [line.id, line]));
  // Of the page as it was: what goes in this run does not come back in it.
  const there = [memory, ...known].map(folded);
  const added: (ChangedLine & { readonly line: string })[] = [];
  let text = shorter;
  for (const { note, why } of add) {
    const found = byId.get(note);
    if (found === undefined) {
      refused.push({ text: note, why: 'no line of a note' });
      continue;
    }
    if (added.some((one) => one.text === found.text)) continue;
    const line = `- ${found.date}: ${found.text}`;
    const next = withOwnLines(shorter, [...added.map((one) => one.line), line]);
    const no = whyNotAdded(found.text, there, added.length, next);
    if (no !== null) refused.push({ text: found.text, why: no });
    else {
      added.push({ text: found.text, why: `${found.date}: ${why}`, line });
      text = next;
    }
  }
  return { text, added: added.map(({ text: line, why }) => ({ text: line, why })) };
}

function whyNotAdded(
  line: string,
  there: readonly string[],
  count: number,
  next: string,
): string | null {
  if (isWishOrRule(line))
    return 'a wish or a rule, and these exist in their person’s own words alone';
  if (there.some((text) => text.includes(folded(line))))
    return 'it is known, or was taken out before';
  if (count >= MOST_ADDED) return 'too much for one run';
  return estimateTokens(next) > MEMORY_TOKENS ? 'there is no room for it' : null;
}

function folded(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}
