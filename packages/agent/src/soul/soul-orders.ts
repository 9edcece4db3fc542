import type { Clock } from '@parley/contracts';
import type { SoulRepository, SoulVersion } from '@parley/store';
import { soulText } from '@parley/workspace';
import type { SoulGuard } from './soul-guard.ts';
import { LONGEST_SOUL, type SoulSettings, soulDiff } from './soul-text.ts';

/** A proposed text. */
export interface SoulWish {
  /** Deduplicates proposals. */
  readonly askedBy: string;
  readonly text: string;
  readonly author: 'agent' | 'person';
  readonly by: string;
  readonly reason: string;
}

/** The result of a proposal or an order; `words` is a sentence for its sender. */
export type SoulAnswer =
  | { readonly kind: 'done'; readonly version: SoulVersion }
  | { readonly kind: 'refused'; readonly words: string };

/** The store of an agent's versions, and its file. */
export interface Soul {
  readonly agent: string;
  readonly souls: SoulRepository;
  readonly guard: SoulGuard;
  readonly settings: SoulSettings;
  readonly clock: Clock;
}

/** Proposals of one author that may be open at a time. */
const MOST_OPEN = 3;

/** Stores a proposal against the text in use; a person’s first text is the seed. */
export async function proposeSoul(
  soul: Soul,
  { text: raw, ...wish }: SoulWish,
): Promise<SoulAnswer> {
  const { agent, souls, clock, settings } = soul;
  if (raw.includes('\0') || !raw.isWellFormed()) return refused('That is no plain text.');
  if (wish.author === 'agent' && settings.apply === 'never') {
    return refused('SOUL.md stays as it is: soul.apply is "never" in the settings.');
  }
  if (raw.length > LONGEST_SOUL * 2) return refused('That is far too long for SOUL.md.');
  const inUse = await souls.applied(agent);
  const text = soulText(raw);
  if (inUse === null) return seed(soul, { ...wish, text });
  const { head, number: basedOn } = inUse;
  const version = { ...wish, text, head, basedOn, diff: soulDiff(inUse.text, text) };
  const proposal = await souls.propose(agent, version, MOST_OPEN, clock());
  if (proposal.kind !== 'full') return { kind: 'done', version: proposal.version };
  return refused(`${MOST_OPEN} proposals are open already; the owner has to decide on them first.`);
}

/** Only a person writes the first version. */
async function seed(
  soul: Soul,
  { author, by, text }: Omit<SoulWish, 'askedBy' | 'reason'>,
): Promise<SoulAnswer> {
  if (author === 'agent') return refused('There is no SOUL.md yet, and a person writes the first.');
  if (text.trim() === '') return refused('It says nothing.');
  await soul.souls.seed(soul.agent, { text, head: '', by }, soul.clock());
  return done(soul, 0);
}

const IN_BETWEEN = 'Something else came in between; please look again.';

/** Applies a version that has passed. */
export async function applySoul(soul: Soul, number: number, by: string): Promise<SoulAnswer> {
  const { agent, souls, guard, settings, clock } = soul;
  const version = await souls.get(agent, number);
  const inUse = await souls.applied(agent);
  const against = refusal(number, version, settings);
  if (against !== null) return refused(against);
  if (inUse === null || !(await souls.apply(agent, number, by, inUse.number, clock()))) {
    return refused(IN_BETWEEN);
  }
  await guard.look('at-once');
  return done(soul, number);
}

/** Ends a proposal for good. */
export async function vetoSoul(soul: Soul, number: number, by: string): Promise<SoulAnswer> {
  const { agent, souls, clock } = soul;
  const version = await souls.get(agent, number);
  if (version === null) return refused(`There is no version ${number}.`);
  if (version.state === 'vetoed') return done(soul, number);
  if (await souls.close(agent, number, 'vetoed', by, clock())) return done(soul, number);
  return refused(
    version.state === 'applied'
      ? `Version ${number} is in use already. \`/soul rollback ${version.basedOn ?? 0}\` goes back.`
      : `Version ${number} is not open any more.`,
  );
}

/** Applies the text of a former version again, as a new version. */
export async function rollbackSoul(
  { agent, souls, guard, clock }: Soul,
  number: number,
  { by, askedBy }: { readonly by: string; readonly askedBy: string },
): Promise<SoulAnswer> {
  const inUse = await souls.applied(agent);
  const to = await souls.get(agent, number);
  if (inUse === null || to === null) return refused(`There is no version ${number}.`);
  if (to.appliedAt === null) {
    return refused(`Version ${number} was never in use, so there is no way back to it.`);
  }
  // The same order received again.
  if (to.text === inUse.text && inUse.reason === reasonFor(number)) {
    return { kind: 'done', version: inUse };
  }
  if (to.text === inUse.text)
    return refused(`Version ${inUse.number}, in use now, says just that.`);
  const order = {
    to: number,
    askedBy,
    by,
    reason: reasonFor(number),
    basedOn: inUse.number,
    diff: soulDiff(inUse.text, to.text),
  };
  const version = await souls.rollback(agent, order, clock());
  if (version === null) return refused(IN_BETWEEN);
  await guard.look('at-once');
  return { kind: 'done', version };
}

function reasonFor(number: number): string {
  return `back to version ${number}`;
}

function refusal(
  number: number,
  version: SoulVersion | null,
  { apply }: SoulSettings,
): string | null {
  if (version === null) return `There is no version ${number}.`;
  if (apply === 'never') return 'SOUL.md stays as it is: soul.apply is "never" in the settings.';
  switch (version.state) {
    case 'passed':
      return null;
    case 'proposed':
      return `Version ${number} is still being evaluated.`;
    case 'refused':
      return `Version ${number} did not pass the evaluation.`;
    case 'applied':
      return `Version ${number} is in use already.`;
    case 'vetoed':
      return `Version ${number} was vetoed.`;
    case 'replaced':
      return version.appliedAt === null
        ? `Version ${number} was overtaken by another one; propose it again.`
        : `Version ${number} was in use before: \`/soul rollback ${number}\`.`;
  }
}

async function done({ agent, souls }: Soul, number: number): Promise<SoulAnswer> {
  const version = await souls.get(agent, number);
  return version === null ? refused(`There is no version ${number}.`) : { kind: 'done', version };
}

function refused(words: string): SoulAnswer {
  return { kind: 'refused', words };
}
