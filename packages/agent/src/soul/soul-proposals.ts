import type { Clock } from '@parley/contracts';
import type { SoulRepository, SoulVersion } from '@parley/store';
import { soulText } from '@parley/workspace';
import { LONGEST_SOUL, type SoulSettings } from './soul-settings.ts';
import { soulDiff } from './soul-text.ts';

/** A text that somebody proposes. */
export interface SoulWish {
  /** The same again makes no second proposal. */
  readonly askedBy: string;
  readonly text: string;
  readonly author: 'agent' | 'person';
  readonly by: string;
  readonly reason: string;
}

/** What became of a wish or an order; `words` are a sentence for whoever gave it. */
export type SoulAnswer =
  | { readonly kind: 'done'; readonly version: SoulVersion }
  | { readonly kind: 'refused'; readonly words: string };

/** What storing a proposal needs. */
interface SoulProposalDeps {
  readonly agent: string;
  readonly souls: SoulRepository;
  readonly settings: SoulSettings;
  readonly clock: Clock;
}

/** Proposals of one author that may be open at a time. */
const MOST_OPEN = 3;

/** Stores a proposal against the text in use; a person’s first text is the seed. */
export async function proposeSoul(
  deps: SoulProposalDeps,
  { text: raw, ...wish }: SoulWish,
): Promise<SoulAnswer> {
  const { agent, souls, clock, settings } = deps;
  if (raw.includes('\0') || !raw.isWellFormed()) return refused('That is no plain text.');
  if (wish.author === 'agent' && settings.apply === 'never') {
    return refused('SOUL.md stays as it is: soul.apply is "never" in the settings.');
  }
  if (raw.length > LONGEST_SOUL * 2) return refused('That is far too long for SOUL.md.');
  const inUse = await souls.applied(agent);
  const text = soulText(raw);
  if (inUse === null) return seeded(deps, { ...wish, text });
  const soul = {
    ...wish,
    text,
    head: inUse.head,
    basedOn: inUse.number,
    diff: soulDiff(inUse.text, text),
  };
  const proposal = await souls.propose(agent, soul, MOST_OPEN, clock());
  if (proposal.kind !== 'full') return { kind: 'done', version: proposal.version };
  return refused(`${MOST_OPEN} proposals are open already; the owner has to decide on them first.`);
}

/** Only a person writes the first one. */
async function seeded(
  { agent, souls, clock }: SoulProposalDeps,
  { author, by, text }: Omit<SoulWish, 'askedBy' | 'reason'>,
): Promise<SoulAnswer> {
  if (author === 'agent') return refused('There is no SOUL.md yet, and a person writes the first.');
  if (text.trim() === '') return refused('It says nothing.');
  await souls.seed(agent, { text, head: '', by }, clock());
  const version = await souls.get(agent, 0);
  return version === null ? refused('There is no SOUL.md yet.') : { kind: 'done', version };
}

/** An order or a wish that is not followed, and why. */
export function refused(words: string): SoulAnswer {
  return { kind: 'refused', words };
}
